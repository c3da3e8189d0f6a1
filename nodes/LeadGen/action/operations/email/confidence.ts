import type { IDataObject } from 'n8n-workflow';
import { numberIn } from '../../../common/json';

/** Lower bounds of the confidence bands of docs/service.md (Operations), the highest first. */
const BANDS = [
	[0.9, 'very_high'],
	[0.7, 'high'],
	[0.5, 'medium'],
	[0, 'low'],
] as const;

/** The band of a confidence from 0 to 1 as `confidenceLevel`; no field for any other value. */
export function confidenceLevel(value: unknown): IDataObject {
	const confidence = numberIn(value);
	if (confidence === undefined || confidence > 1) return {};
	const band = BANDS.find(([from]) => confidence >= from);
	return band ? { confidenceLevel: band[1] } : {};
}
