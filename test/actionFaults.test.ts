/** Faults of the LeadGen node that a service, or what a person enters, brought to light. */
import { answer, failure, success, useOtherService, type Action, type Case } from './otherService';
import { post } from './service';

const { expectEach } = useOtherService();

const FIND_BUSINESS: Action = {
	operation: ['email', 'findBusiness'],
	parameters: { firstName: '={{ $json.name }}', company: 'acme.com' },
	callFor: ({ name }) => post('/email/find', { firstName: name, company: 'acme.com' }),
};
const FIND_PERSONAL: Action = {
	operation: ['email', 'findPersonal'],
	parameters: { firstName: '={{ $json.name }}' },
	callFor: ({ name }) => post('/email/personal', { firstName: name }),
};
const ENRICH: Action = { ...FIND_BUSINESS, operation: ['email', 'enrich'] };
const FINDERS = [FIND_BUSINESS, FIND_PERSONAL, ENRICH];

const has = (fields: object): unknown => expect.objectContaining(fields);
const holds = (text: string): unknown => expect.stringContaining(text);

test.each(FINDERS)(
	'A path that a server does not have is no sign that nobody was found: $operation',
	async (finder) => {
		const noPath = (body: object): Case => {
			const advice = holds('Check the base URL');
			return [answer(body, 404), { error: has({ outcome: 'refused', httpStatus: 404, advice }) }];
		};
		const nobody = has({ found: false, email: null }) as object;
		await expectEach(finder, {
			spring: noPath({ status: 404, error: 'Not Found', path: '/v2/email/find' }),
			nest: noPath({ statusCode: 404, message: 'Cannot POST /email/find', error: 'Not Found' }),
			lambda: noPath({ message: 'Not Found' }),
			strapi: noPath({ data: null, error: { status: 404, name: 'E', message: 'Not Found' } }),
			fastApi: noPath({ detail: 'Not Found' }),
			// The service itself.
			envelope: [failure('NOT_FOUND', 404), nobody],
			text: [answer({ success: false, error: 'Not found' }, 404), nobody],
			code: [answer({ error: { code: 'NOT_FOUND', message: 'Nobody' } }, 404), nobody],
			noData: [success(null), nobody],
		});
	},
);
