import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { createHash, createHmac, timingSafeEqual } from 'crypto';
import { InputError } from '../common/errors';

/** Identifies one node of one workflow. Renaming the node does not change it. */
export interface NodeIdentity {
	workflowId: string;
	nodeId: string;
}

/** The query parameter of the callback URL. */
export const PARAMETER = 'leadgen';

/** The signature in a callback URL, as it is, percent-encoded, or escaped in JSON. The attempt is in front of it. */
const SIGNATURE = /(?:\.|%(?:25)*2e|\\u002e)([0-9a-f]{64})(?![0-9a-f])/gi;
/** The attempt, without the rest of an encoded equals sign. */
const ATTEMPT = /(?:(?:25)*3d|u003d)?([a-z0-9]*)$/;
const MAX_ATTEMPT_LENGTH = 60;
/** A body may name many files by their hash. */
const MAX_SIGNATURES = 500;
/** A callback URL, also one that was cut short. */
export const CALLBACK = new RegExp(`${PARAMETER}(=|%(25)*3d|\\\\u003d)`, 'i');

/** Whether a text may hold a signature. */
export function mayBeSigned(text: string): boolean {
	return text.search(SIGNATURE) >= 0;
}

/**
 * Signs and verifies requests to the URL of one node. The key is derived from the API key, so nothing has to be stored.
 */
export class Signer {
	private readonly apiKey: string;

	/** @throws InputError if there is no API key, because anyone could then sign */
	constructor(
		{ apiKey }: ICredentialDataDecryptedObject,
		private readonly identity: NodeIdentity,
	) {
		this.apiKey = typeof apiKey === 'string' ? apiKey.trim() : '';
		if (this.apiKey === '') {
			throw new InputError(
				'API Key',
				'in the credential is empty',
				'Open the LeadGen credential and enter the API key of your account.',
			);
		}
	}

	/** The URL that the service notifies about the scrape of an attempt. One parameter holds all that is signed. */
	callbackUrl(url: string, attempt: string): string {
		return `${url}?${PARAMETER}=${attempt}.${this.signatureOf(attempt)}`;
	}

	/** The signature of an attempt, which must not appear in the output. */
	signatureOf(attempt: string): string {
		return this.sign('attempt', attempt);
	}

	/**
	 * Finds a signed attempt anywhere in a text: services add parameters of their own to a callback URL, or move its
	 * parameters.
	 */
	attemptIn(text: string): string | undefined {
		let seen = 0;
		for (const { index, 1: signature = '' } of text.matchAll(SIGNATURE)) {
			if (++seen > MAX_SIGNATURES) return undefined;
			const before = text.slice(Math.max(0, index - MAX_ATTEMPT_LENGTH), index).toLowerCase();
			const [, attempt = ''] = ATTEMPT.exec(before) ?? [];
			if (this.isSigned(signature.toLowerCase(), 'attempt', attempt)) return attempt;
		}
		return undefined;
	}

	/** @param purpose so that no signature can be used for something else */
	sign(purpose: string, ...values: string[]): string {
		const { workflowId, nodeId } = this.identity;
		const text = JSON.stringify([purpose, workflowId, nodeId, ...values]);
		return createHmac('sha256', this.apiKey).update(text).digest('hex');
	}

	/** Compares in constant time, so that the time does not reveal where the values differ. */
	isSigned(given: unknown, purpose: string, ...values: string[]): boolean {
		const text = typeof given === 'string' ? given : '';
		return timingSafeEqual(digest(text), digest(this.sign(purpose, ...values)));
	}
}

/** A short hash that identifies a value. */
export function fingerprint(value: unknown): string {
	return digest(JSON.stringify([value]))
		.toString('base64url')
		.slice(0, 16);
}

function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
