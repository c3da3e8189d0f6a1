import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { createHash, createHmac, timingSafeEqual } from 'crypto';
import { InputError } from '../common/errors';

export const PARAMETER = 'leadgen';

const SIGNED = /([0-9a-z]{1,80})\.([0-9a-f]{64})(?![0-9a-f])/g;

/**
 * Signs and verifies requests to the URL of one node. The key is derived from the API key, so nothing has to be stored.
 */
export class Signer {
	private readonly apiKey: string;

	/** @param node is part of all that is signed @throws InputError without an API key, because anyone could then sign */
	constructor(
		{ apiKey }: ICredentialDataDecryptedObject,
		private readonly node: string,
	) {
		this.apiKey = typeof apiKey === 'string' ? apiKey.trim() : '';
		const advice = 'Open the LeadGen credential and enter the API key of your account.';
		if (this.apiKey === '') throw new InputError('API Key', 'in the credential is empty', advice);
	}

	/** The URL that the service notifies about the scrape of an attempt. One parameter holds all that is signed. */
	callbackUrl(url: string, attempt: string): string {
		return `${url}?${PARAMETER}=${attempt}.${this.sign('attempt', attempt)}`;
	}

	/** The signed attempt in a URL: services add parameters to a callback URL, move them, or encode them. */
	attemptIn(url: string): string | undefined {
		const [, attempt] =
			[...decoded(url).matchAll(SIGNED)].find(([, attempt = '', signature]) =>
				this.isSigned(signature, 'attempt', attempt),
			) ?? [];
		return attempt;
	}

	/** @param purpose so that no signature can be used for something else */
	sign(purpose: string, ...values: string[]): string {
		const text = JSON.stringify([purpose, this.node, ...values]);
		return createHmac('sha256', this.apiKey).update(text).digest('hex');
	}

	/** Compares in constant time, so that the time does not reveal where the values differ. */
	isSigned(given: unknown, purpose: string, ...values: string[]): boolean {
		const text = typeof given === 'string' ? given : '';
		return timingSafeEqual(digest(text), digest(this.sign(purpose, ...values)));
	}
}

/** Whether a URL is a callback URL, also one that was cut short. */
export function isCallback(url: string): boolean {
	return decoded(url).includes(`${PARAMETER}=`);
}

/** In lower case, and with the dot and the equals sign of a signature, however often they were encoded. */
function decoded(url: string): string {
	const lower = url.toLowerCase();
	return lower.replace(/%(?:25)*2e/g, '.').replace(/%(?:25)*3d/g, '=');
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
