import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { createHash, createHmac, timingSafeEqual } from 'crypto';
import { InputError } from '../service/errors';

/**
 * Identifies one node of one n8n. Renaming the node does not change it. It includes the n8n, because a workflow that is
 * moved to another n8n may keep its IDs and its static data.
 */
export interface NodeIdentity {
	instanceId: string;
	workflowId: string;
	nodeId: string;
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

	/** The URL that the service notifies about the scrape of an attempt. */
	callbackUrl(url: string, attempt: string): string {
		return `${url}?attempt=${encodeURIComponent(attempt)}&signature=${this.sign('attempt', attempt)}`;
	}

	/**
	 * Verifies a URL that the service received. @returns the attempt, '' for a URL of 1.0.0, undefined if it is forged
	 */
	attemptOf({ attempt, signature, token }: Record<string, unknown>): string | undefined {
		if (typeof attempt === 'string' && isEqual(signature, this.sign('attempt', attempt))) {
			return attempt;
		}
		return isEqual(token, this.sign('notification')) ? '' : undefined;
	}

	/** All secrets that must not appear in the output. */
	secretsOf(attempt: string): string[] {
		return [this.sign('attempt', attempt), this.sign('notification')];
	}

	/** The header that authenticates a message of the node to itself. */
	header(message: string): string {
		return this.sign('message', message);
	}

	isOwn(header: unknown, message: unknown): message is string {
		return typeof message === 'string' && isEqual(header, this.header(message));
	}

	/** Whether 1.0.0 sent the request. After an update of the package, it keeps running until n8n restarts. */
	isLegacyKnock(header: unknown): boolean {
		return isEqual(header, this.sign('knock'));
	}

	private sign(purpose: string, ...values: string[]): string {
		const { workflowId, nodeId } = this.identity;
		const text = JSON.stringify([purpose, workflowId, nodeId, ...values]);
		return createHmac('sha256', this.apiKey).update(text).digest('hex');
	}
}

/** Compares in constant time, so that the time does not reveal where the values differ. */
function isEqual(given: unknown, expected: string): boolean {
	return timingSafeEqual(digest(typeof given === 'string' ? given : ''), digest(expected));
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
