'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.Service = void 0;
const envelope_1 = require('./envelope');
const http_1 = require('./http');
/** The service, as one account sees it. */
class Service {
	context;
	credential;
	timeoutMs;
	constructor(context, credential, timeoutMs) {
		this.context = context;
		this.credential = credential;
		this.timeoutMs = timeoutMs;
	}
	/**
	 * Reads the credential of the node once, for all calls of a run.
	 * @param timeoutMs how long to wait for the answer to one request
	 */
	static async connect(context, timeoutMs) {
		return new Service(context, await context.getCredentials(http_1.CREDENTIAL_TYPE), timeoutMs);
	}
	/**
	 * Makes a call and gives its `data` (interface 2.1), `null` where the service says `null`.
	 * @throws ServiceError with what is known of the call
	 */
	async call(request) {
		const response = await (0, http_1.exchange)(
			this.context,
			this.credential,
			request,
			this.timeoutMs,
		);
		return (0, envelope_1.readEnvelope)(response, request);
	}
	/** Like `call`, for operations that have nothing to say without data. */
	async data(request) {
		const data = await this.call(request);
		if (data === null) throw (0, envelope_1.withoutData)(request);
		return data;
	}
}
exports.Service = Service;
