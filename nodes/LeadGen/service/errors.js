'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.ServiceError = exports.InputError = exports.LeadGenError = void 0;
/** An error written for the person who runs the workflow. */
class LeadGenError extends Error {
	advice;
	details;
	/**
	 * @param message what happened
	 * @param advice what to do next
	 * @param details facts for later steps of the workflow; they become `details` of the item
	 */
	constructor(message, advice, details = {}) {
		super(message);
		this.advice = advice;
		this.details = details;
		this.name = new.target.name;
	}
	/** Adds what the caller knows, before it throws the error on. */
	add(details, advice) {
		this.details = { ...details, ...this.details };
		this.advice = `${this.advice} ${advice}`;
		return this;
	}
}
exports.LeadGenError = LeadGenError;
/** A parameter that can only be wrong, found before anything was sent. */
class InputError extends LeadGenError {
	/** @param field display name of the parameter, as the editor shows it */
	constructor(field, problem, advice) {
		super(`${field} ${problem}`, advice, { field });
	}
}
exports.InputError = InputError;
/** A call to the service that did not bring a result. */
class ServiceError extends LeadGenError {
	outcome;
	/** The service's own error code (interface 7), where it gave one. */
	code;
	httpStatus;
	constructor(message, advice, facts) {
		super(message, advice, { ...facts });
		this.outcome = facts.outcome;
		this.code = facts.code;
		this.httpStatus = facts.httpStatus;
	}
}
exports.ServiceError = ServiceError;
