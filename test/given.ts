/** What tests run the node with. */

/** The operations of the node. */
export const BALANCE = ['credit', 'get'] as const;
export const FIND = ['email', 'findBusiness'] as const;
export const PERSONAL = ['email', 'findPersonal'] as const;
export const ENRICH = ['email', 'enrich'] as const;
export const VERIFY = ['email', 'verify'] as const;
export const START = ['scrape', 'start'] as const;
export const STATUS = ['scrape', 'getStatus'] as const;
export const WAIT = ['scrape', 'wait'] as const;
export const START_AND_WAIT = ['scrape', 'startAndWait'] as const;
export type Operation = readonly [resource: string, operation: string];

/** A person from the fields of the item. Fields that the item lacks are empty. */
export const person = {
	firstName: '={{ $json.first }}',
	lastName: '={{ $json.last }}',
	company: '={{ $json.company }}',
	linkedinUrl: '={{ $json.profile }}',
};

/** People by first and last name, all of one company. */
export function people(...names: string[]) {
	return names.map((name) => {
		const [first = '', last = ''] = name.split(' ');
		return { first, last, company: 'acme.com' };
	});
}

/** A failed item goes to the regular output. */
export const keepGoing = { onError: 'continueRegularOutput' } as const;
