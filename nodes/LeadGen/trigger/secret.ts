import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { createHash, createHmac, timingSafeEqual } from 'crypto';

/** Which node of which workflow; stays the same when the node is renamed. */
export interface NodeIdentity {
	workflowId: string;
	nodeId: string;
}

/**
 * A secret that only those know who know the API key. It is derived rather than stored, so that a
 * completion is let in even if n8n lost everything else that the node had written down.
 * @param purpose what it opens: the notifications of the service, or the knocks of our own clock
 */
export function secretFor(
	{ apiKey }: ICredentialDataDecryptedObject,
	{ workflowId, nodeId }: NodeIdentity,
	purpose: 'notification' | 'knock' | 'test',
): string {
	const text = JSON.stringify([purpose, workflowId, nodeId]);
	return createHmac('sha256', typeof apiKey === 'string' ? apiKey.trim() : '')
		.update(text)
		.digest('hex');
}

/** Compares in a time that says nothing about where the two differ. */
export function isSecret(given: unknown, secret: string): boolean {
	const text = typeof given === 'string' ? given : '';
	return timingSafeEqual(digest(text), digest(secret));
}

/** A short name for a value, by which it can be recognised. */
export function fingerprint(value: unknown): string {
	return digest(JSON.stringify([value]))
		.toString('base64url')
		.slice(0, 16);
}

function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
