import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type {
	Execution,
	StoredCredential,
	StoredWorkflow,
	WorkflowContent,
	WorkflowNode,
} from '../../lab/playground/api';
import { API_KEY, Fixture, LINE, node, until, use, uuid } from '../../lab/fixture/fixture';
import { ScriptedModel } from './scriptedModel';

/** The advice where the name of a company is given for its domain. */
const NAME_FOR_DOMAIN =
	"Enter the domain of the company's website, such as acme.com, not the name of the company. If you only know the name, leave the domain empty and enter the LinkedIn URL of the person.";

/**
 * The action node as a tool: called by a real MCP client through n8n's MCP Server Trigger, and by n8n's AI
 * Agent, whose model says what the test tells it to.
 */
const fixture = new Fixture();
const model = new ScriptedModel();
const clients: Client[] = [];
let modelCredential: StoredCredential;
beforeAll(async () => {
	await fixture.open();
	modelCredential = await fixture.api.createCredential({
		name: 'Model',
		type: 'openAiApi',
		data: { apiKey: 'none', url: await model.listen() },
	});
});
afterAll(async () => {
	await model.close();
});
afterAll(async () => {
	await fixture.close();
});
beforeEach(async () => {
	await fixture.reset();
});
afterEach(async () => {
	for (const client of clients.splice(0)) await client.close();
	expect(fixture.sandbox.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([]);
});

/** What the ✨ button beside a field writes into it, named after the field. */
function fromModel(key: string, type = 'string', description = ''): string {
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`${description}\`, '${type}') }}`;
}

const person = { firstName: fromModel('First_Name'), lastName: fromModel('Last_Name') };
const FIND_BUSINESS = {
	resource: 'email',
	operation: 'findBusiness',
	...person,
	company: fromModel('Company_Domain'),
};
const FIND_PERSONAL = {
	resource: 'email',
	operation: 'findPersonal',
	...person,
	linkedinUrl: fromModel('LinkedIn_URL', 'string', 'Empty if you do not know it'),
};
const VERIFY = { resource: 'email', operation: 'verify', email: fromModel('Email') };
const BALANCE = { resource: 'credit', operation: 'get' };
const START = {
	resource: 'scrape',
	operation: 'start',
	filters: { jobTitles: fromModel('Job_Titles', 'json', 'A list of job titles') },
	limit: fromModel('Limit', 'number', 'How many leads at most; each costs a credit'),
};
const STATUS = {
	resource: 'scrape',
	operation: 'getStatus',
	scrapeId: fromModel('Scrape_ID'),
};

/** An operation as a tool; an error is an answer, unless the test is about what else it may be. */
function tool(
	name: string,
	parameters: Record<string, unknown>,
	fields: Partial<WorkflowNode> = { onError: 'continueRegularOutput' },
): WorkflowNode {
	const credentials = use(fixture.credential);
	return node(name, 'n8n-nodes-leadgen.leadGenTool', { parameters, credentials, ...fields });
}

/** A workflow of a node that has tools. */
function withTools(owner: WorkflowNode, tools: WorkflowNode[]): WorkflowContent {
	const content = fixture.content(owner);
	content.nodes.push(...tools);
	for (const { name } of tools) content.connections[name] = link(owner.name, 'ai_tool');
	return content;
}

function link(to: string, type: string): object {
	return { [type]: [[{ node: to, type, index: 0 }]] };
}

/** Connects an MCP client to the MCP Server Trigger of an active workflow. */
async function connect(path: string, headers: Record<string, string> = {}): Promise<Client> {
	const url = new URL(`${fixture.url}/mcp/${path}`);
	await until(
		'the MCP server',
		async () => (await fetch(url, { method: 'DELETE' })).status !== 404,
	);
	const client = new Client({ name: 'test', version: '1.0.0' });
	clients.push(client);
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
	return client;
}

/** Serves tools over MCP, and connects a client to them. */
async function serve(...tools: WorkflowNode[]): Promise<Client> {
	const path = uuid();
	const trigger = node('MCP Server Trigger', '@n8n/n8n-nodes-langchain.mcpTrigger', {
		typeVersion: 2,
		webhookId: path,
		parameters: { path },
	});
	const { id } = await fixture.api.createWorkflow(withTools(trigger, tools));
	await fixture.api.activateWorkflow(id);
	return await connect(path);
}

/** Calls a tool, and waits for the answer as long as MCP clients do by default: a minute. */
async function call(client: Client, name: string, args: object, timeout?: number) {
	const request = { name, arguments: { ...args } };
	const { content, isError = false } = await client
		.callTool(request, CallToolResultSchema, { timeout })
		.then((result) => CallToolResultSchema.parse(result));
	const [first, ...more] = content;
	expect(more).toEqual([]);
	return { isError, text: first?.type === 'text' ? first.text : '' };
}

/** What a tool answers, as the list of items that it is. */
async function answer(client: Client, name: string, args: object): Promise<unknown> {
	const { isError, text } = await call(client, name, args);
	expect([isError, text]).toEqual([false, expect.stringMatching(/^\[.*\]$/)]);
	return JSON.parse(text);
}

function spent(): number {
	return 1000 - fixture.sandbox.credits(API_KEY);
}

describe(`n8n ${LINE}.x, tools over MCP`, () => {
	it('say what they do and what they take to a model that sees nothing else', async () => {
		const client = await serve(
			tool('Find business email', FIND_BUSINESS),
			tool('Find personal email', FIND_PERSONAL),
			tool('Verify email', VERIFY),
			tool('Get balance', BALANCE),
			tool('Start scrape', START),
			tool('Get scrape status', STATUS),
			tool('Check address', {
				...VERIFY,
				descriptionType: 'manual',
				toolDescription: 'Check an address before you write to it. Costs a credit.',
			}),
		);
		const { tools } = await client.listTools();

		const text = { type: 'string' };
		const takes = (properties: Record<string, object>) => ({
			type: 'object',
			properties,
			...(Object.keys(properties).length > 0 && { required: Object.keys(properties) }),
			additionalProperties: true,
			$schema: expect.stringContaining('json-schema.org') as string,
		});
		expect(tools.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
			{
				name: 'Check_address',
				description: 'Check an address before you write to it. Costs a credit.',
				inputSchema: takes({ Email: text }),
			},
			{
				name: 'Find_business_email',
				description: 'Find business email in LeadGen',
				inputSchema: takes({ First_Name: text, Last_Name: text, Company_Domain: text }),
			},
			{
				name: 'Find_personal_email',
				description: 'Find personal email in LeadGen',
				inputSchema: takes({
					First_Name: text,
					Last_Name: text,
					LinkedIn_URL: { ...text, description: 'Empty if you do not know it' },
				}),
			},
			{
				name: 'Get_balance',
				description: 'Get credit balance in LeadGen',
				inputSchema: takes({}),
			},
			{
				name: 'Get_scrape_status',
				description: 'Get scrape status in LeadGen',
				inputSchema: takes({ Scrape_ID: text }),
			},
			{
				name: 'Start_scrape',
				description: 'Start scrape in LeadGen',
				inputSchema: takes({
					Job_Titles: { description: 'A list of job titles' },
					Limit: { type: 'number', description: 'How many leads at most; each costs a credit' },
				}),
			},
			{
				name: 'Verify_email',
				description: 'Verify email address in LeadGen',
				inputSchema: takes({ Email: text }),
			},
		]);
		expect(fixture.sandbox.requests).toEqual([]);
	});

	it('send what the model fills in, answer with the result, and cost what they should', async () => {
		const client = await serve(
			tool('Find business email', FIND_BUSINESS),
			tool('Find personal email', FIND_PERSONAL),
			tool('Verify email', VERIFY),
			tool('Get balance', BALANCE),
		);
		const ann = { First_Name: 'Ann', Last_Name: 'Sure' };
		expect(
			await answer(client, 'Find_business_email', { ...ann, Company_Domain: 'www.acme.com/team' }),
		).toEqual([
			{
				found: true,
				email: 'ann.sure@acme.com',
				confidence: 0.97,
				confidenceLevel: 'very_high',
				sources: ['company_website'],
			},
		]);
		expect(await answer(client, 'Find_personal_email', { ...ann, LinkedIn_URL: '' })).toEqual([
			{
				found: true,
				email: 'asure@outlook.com',
				confidence: 0.94,
				confidenceLevel: 'very_high',
			},
		]);
		expect(await answer(client, 'Verify_email', { Email: 'catchall.ann@acme.com' })).toEqual([
			{
				email: 'catchall.ann@acme.com',
				status: 'catch_all',
				deliverable: false,
				disposable: false,
				freeProvider: false,
			},
		]);
		expect(await answer(client, 'Get_balance', {})).toEqual([
			{ credits: 997, plan: 'pro', resetDate: '2030-01-01T00:00:00.000Z' },
		]);
		const name = { firstName: 'Ann', lastName: 'Sure' };
		expect(fixture.sandbox.requests.map(({ path, body }) => [path, body])).toEqual([
			['/email/find', { ...name, company: 'acme.com' }],
			['/email/personal', name],
			['/email/verify', { email: 'catchall.ann@acme.com' }],
			['/credits', undefined],
		]);
		expect(spent()).toBe(3);
	});

	it('start a scrape each time that they are asked to, and say how it is', async () => {
		const client = await serve(tool('Start scrape', START), tool('Get scrape status', STATUS));
		const args = { Job_Titles: ['CTO', 'Head of Sales'], Limit: 5 };
		const started = [
			await answer(client, 'Start_scrape', args),
			await answer(client, 'Start_scrape', args),
		];
		const ids = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		expect(started).toEqual(
			ids.map((scrapeId) => [{ scrapeId, status: 'pending', estimatedCredits: 5 }]),
		);
		expect(ids).toHaveLength(2);
		expect(fixture.sandbox.jobs.map(({ filters }) => filters)).toEqual([
			{ jobTitles: ['CTO', 'Head of Sales'], limit: 5 },
			{ jobTitles: ['CTO', 'Head of Sales'], limit: 5 },
		]);
		fixture.sandbox.finish(ids[0] ?? '', 'completed');
		expect(await answer(client, 'Get_scrape_status', { Scrape_ID: ids[0] })).toEqual([
			{
				scrapeId: ids[0],
				status: 'completed',
				progress: 100,
				leadsFound: 5,
				creditsUsed: 5,
				createdAt: expect.any(String) as string,
				completedAt: expect.any(String) as string,
			},
		]);
		expect(spent()).toBe(10);
	});

	it('say that nobody was found, and are paid for what was asked before only once', async () => {
		const client = await serve(tool('Find business email', FIND_BUSINESS));
		const other = await serve(tool('Find business email', FIND_BUSINESS));
		const bea = { First_Name: 'Bea', Last_Name: 'Sure', Company_Domain: 'acme.com' };
		const first = await answer(client, 'Find_business_email', bea);
		expect(first).toEqual([expect.objectContaining({ found: true, email: 'bsure@acme.com' })]);
		const again = { ...bea, Last_Name: 'SURE', Company_Domain: 'https://acme.com' };
		expect(await answer(client, 'Find_business_email', again)).toEqual(first);
		expect(await answer(other, 'Find_business_email', bea)).toEqual(first);
		const tom = { ...bea, Last_Name: 'Nobody' };
		for (let count = 0; count < 2; count++) {
			expect(await answer(client, 'Find_business_email', tom)).toEqual([
				{ found: false, email: null },
			]);
		}
		expect(fixture.count('findBusinessEmail')).toBe(2);
		expect(spent()).toBe(1);
	});

	it('say what to change about wrong arguments, and send nothing', async () => {
		const client = await serve(
			tool('Find business email', FIND_BUSINESS),
			tool('Verify email', VERIFY),
			tool('Start scrape', START),
			tool('Get scrape status', STATUS),
		);
		const cyd = { First_Name: 'Cyd', Last_Name: 'Sure', Company_Domain: 'acme.com' };
		const wrong: Array<[string, object, object]> = [
			[
				'Find_business_email',
				{ ...cyd, Company_Domain: 'Acme Inc' },
				{
					message: 'Company Domain must be a domain, but is "Acme Inc"',
					field: 'Company Domain',
					advice: NAME_FOR_DOMAIN,
				},
			],
			[
				'Find_business_email',
				{ ...cyd, First_Name: '', Last_Name: ' ' },
				{
					message: 'First Name and Last Name are both empty',
					field: 'First Name and Last Name',
					advice: 'Enter at least one of the two names of the person, or the full name.',
				},
			],
			[
				'Verify_email',
				{ Email: '' },
				expect.objectContaining({ message: 'Email is empty', field: 'Email' }) as object,
			],
			[
				'Verify_email',
				{ Email: 'a@acme.com, b@acme.com' },
				{
					message: 'Email must be one email address, but is "a@acme.com, b@acme.com"',
					field: 'Email',
					advice: 'Enter an address such as nathan@acme.com.',
				},
			],
			[
				'Start_scrape',
				{ Job_Titles: ['CTO'], Limit: 0 },
				{
					message: 'Limit must be a whole number of at least 1, but is 0',
					field: 'Limit',
					advice: 'Enter a whole number such as 50.',
				},
			],
			[
				'Start_scrape',
				{ Job_Titles: { title: 'CTO' }, Limit: 1 },
				{
					message: 'Job Titles must be text, but is {"title":"CTO"}',
					field: 'Job Titles',
					advice: 'Change the expression so that it returns a single text value.',
				},
			],
			[
				'Start_scrape',
				// n8n itself refuses an empty list.
				{ Job_Titles: [' '], Limit: 1 },
				{
					message:
						'Filters are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize',
					field: 'Filters',
					advice: 'A scrape without filters collects leads of any kind, and uses credits for them.',
				},
			],
		];
		for (const [name, args, error] of wrong) {
			expect(await answer(client, name, args)).toEqual([{ ...args, error }]);
		}
		// n8n itself refuses what does not fit the schema.
		for (const args of [{}, { Last_Name: 'Sure', Company_Domain: 'acme.com' }]) {
			const { isError, text } = await call(client, 'Find_business_email', args);
			expect([isError, text]).toEqual([true, expect.stringMatching(/First_Name/)]);
		}
		const number = await call(client, 'Verify_email', { Email: 42 });
		expect(number).toEqual({ isError: true, text: expect.stringMatching(/Email/) as string });
		expect(fixture.sandbox.requests).toEqual([]);
	});

	it('say what the service said, and what it may have cost', async () => {
		const client = await serve(
			tool('Verify email', VERIFY),
			tool('Verify in a second', { ...VERIFY, options: { requestTimeout: 1 } }),
			tool('Get balance', BALANCE),
			tool('Get scrape status', STATUS),
		);
		const error = async (name: string, args: object): Promise<unknown> => {
			const [item] = (await answer(client, name, args)) as Array<{ error: unknown }>;
			return item?.error;
		};

		expect(await error('Get_scrape_status', { Scrape_ID: 'scrape_nowhere' })).toEqual({
			message: 'The service says: No such scrape (NOT_FOUND)',
			outcome: 'refused',
			code: 'NOT_FOUND',
			httpStatus: 404,
			advice:
				'The service did not find what this request asks for. Check the values, such as the scrape ID.',
		});

		fixture.sandbox.set({ accounts: { [API_KEY]: { plan: 'pro', credits: 0 } } });
		expect(await error('Verify_email', { Email: 'valid.dan@acme.com' })).toEqual({
			message: 'The service says: 1 credits needed, 0 left (INSUFFICIENT_CREDITS)',
			outcome: 'refused',
			code: 'INSUFFICIENT_CREDITS',
			httpStatus: 402,
			advice: expect.stringMatching(/^This request cost nothing/) as string,
		});

		fixture.sandbox.set({ accounts: { other: { plan: 'pro', credits: 0 } } });
		const unauthorized = {
			message: 'The service says: Invalid or missing API key (UNAUTHORIZED)',
			outcome: 'refused',
			code: 'UNAUTHORIZED',
			httpStatus: 401,
			advice: 'Check the API key in the LeadGen credential.',
		};
		expect(await error('Verify_email', { Email: 'valid.dan@acme.com' })).toEqual(unauthorized);
		expect(await error('Get_balance', {})).toEqual(unauthorized);

		const mayBePaid = expect.stringMatching(/may have done the work and charged/) as string;
		fixture.sandbox.set({
			accounts: { [API_KEY]: { plan: 'pro', credits: 1000 } },
			faults: [{ kind: 'resetAfterWork', match: { operation: 'verifyEmail', nth: [1] } }],
		});
		expect(await error('Verify_email', { Email: 'valid.dora@acme.com' })).toEqual({
			message: 'The connection broke before the service answered',
			outcome: 'unknown',
			code: expect.any(String) as string,
			advice: mayBePaid,
		});
		fixture.sandbox.set({ faults: [{ kind: 'hang', match: { operation: 'verifyEmail' } }] });
		expect(await error('Verify_in_a_second', { Email: 'valid.drew@acme.com' })).toEqual(
			expect.objectContaining({ outcome: 'unknown', advice: mayBePaid }),
		);
		expect(spent()).toBe(1);
	});

	it('tell a model what to change also where an error is left to n8n', async () => {
		const client = await serve(tool('Find business email', FIND_BUSINESS, {}));
		const args = { First_Name: 'Eva', Last_Name: 'Sure', Company_Domain: 'Acme Inc' };
		const { text } = await call(client, 'Find_business_email', args);
		expect(text).toContain('Company Domain must be a domain, but is');
		expect(text).toContain(NAME_FOR_DOMAIN);
		// The next call fares as if nothing had happened.
		expect(
			await answer(client, 'Find_business_email', { ...args, Company_Domain: 'acme.com' }),
		).toEqual([expect.objectContaining({ email: 'eva.sure@acme.com' })]);
		expect(spent()).toBe(1);
	});

	it('start no scrape again that may have been started, also if n8n runs the tool again', async () => {
		const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };
		const client = await serve(tool('Start scrape', START, retry));
		fixture.sandbox.set({
			faults: [{ kind: 'resetAfterWork', match: { operation: 'startScrape' } }],
		});
		const args = { Job_Titles: ['CTO'], Limit: 3 };
		for (let count = 0; count < 2; count++) {
			const { text } = await call(client, 'Start_scrape', args);
			expect(text).toContain('The connection broke before the service answered');
		}
		expect(fixture.sandbox.jobs).toHaveLength(1);
		await call(client, 'Start_scrape', { ...args, Limit: 4 });
		expect(fixture.sandbox.jobs).toHaveLength(2);
	});

	it('are not paid for again when a client gave up on an answer and asks once more', async () => {
		const client = await serve(tool('Verify email', VERIFY));
		fixture.sandbox.set({ latencyMs: 3000 });
		const args = { Email: 'valid.finn@acme.com' };
		await expect(call(client, 'Verify_email', args, 1000)).rejects.toThrow('timed out');
		await until(
			'the answer of the service',
			() => fixture.sandbox.requests[0]?.answeredAt !== undefined,
		);
		expect(await answer(client, 'Verify_email', args)).toEqual([
			expect.objectContaining({ email: 'valid.finn@acme.com', status: 'valid' }),
		]);
		expect(spent()).toBe(1);
	});

	it('answer many calls at once, each with its own result', async () => {
		const client = await serve(tool('Verify email', VERIFY));
		const all = Array.from({ length: 50 }, (_, index) => `valid.gil${String(index)}@acme.com`);
		const answers = await Promise.all(
			all.map(async (Email) => await answer(client, 'Verify_email', { Email })),
		);
		expect(answers).toEqual(all.map((email) => [expect.objectContaining({ email }) as object]));
		expect(spent()).toBe(50);
	});
});

describe(`n8n ${LINE}.x, tools of an AI Agent`, () => {
	/** The newest version of the node that this n8n has. */
	const typeVersion = LINE === '1' ? 3 : 3.1;

	/** Runs an agent with tools once. */
	async function ask(...tools: WorkflowNode[]): Promise<Execution> {
		const agent = node('AI Agent', '@n8n/n8n-nodes-langchain.agent', {
			typeVersion,
			parameters: { promptType: 'define', text: 'Find the address of Hal', options: {} },
		});
		const { id, name } = modelCredential;
		const chatModel = node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', {
			typeVersion: 1.2,
			parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			credentials: { openAiApi: { id, name } },
		});
		const start = node('Manual', 'n8n-nodes-base.manualTrigger');
		const content = withTools(agent, [...tools]);
		content.nodes.push(start, chatModel);
		content.connections.Manual = link('AI Agent', 'main');
		content.connections.Model = link('AI Agent', 'ai_languageModel');
		const workflow = await fixture.api.createWorkflow(content);
		return await fixture.api.runWorkflow(workflow.id, 'Manual');
	}

	it('answer the model, which corrects itself by what an error says, and are paid for once', async () => {
		const hal = { First_Name: 'Hal', Last_Name: 'Sure', Company_Domain: 'Acme Inc' };
		const right = { ...hal, Company_Domain: 'acme.com' };
		model.script(
			[['Find_business_email', hal]],
			[['Find_business_email', right]],
			[
				['Verify_email', { Email: 'hsure@acme.com' }],
				['Find_business_email', right],
			],
			'The address is hsure@acme.com',
		);
		const execution = await ask(
			tool('Find business email', FIND_BUSINESS),
			tool('Verify email', VERIFY),
		);

		expect(execution).toMatchObject({ status: 'success' });
		expect(execution.nodes['AI Agent']?.outputs[0]?.map(({ json }) => json)).toEqual([
			{ output: 'The address is hsure@acme.com' },
		]);
		const told = (model.prompts[0]?.tools ?? []).map((each) => each.function);
		expect(told.map(({ name, description }) => `${name}: ${description}`).sort()).toEqual([
			'Find_business_email: Find business email in LeadGen',
			'Verify_email: Verify email address in LeadGen',
		]);
		const found = expect.objectContaining({ found: true, email: 'hsure@acme.com' }) as object;
		expect(model.heard.map((text) => JSON.parse(text) as unknown)).toEqual([
			[
				expect.objectContaining({
					error: {
						message: 'Company Domain must be a domain, but is "Acme Inc"',
						field: 'Company Domain',
						advice: NAME_FOR_DOMAIN,
					},
				}),
			],
			[found],
			[expect.objectContaining({ email: 'hsure@acme.com', status: 'valid' })],
			[found],
		]);
		expect(fixture.sandbox.requests.map(({ path, body }) => [path, body])).toEqual([
			['/email/find', { firstName: 'Hal', lastName: 'Sure', company: 'acme.com' }],
			['/email/verify', { email: 'hsure@acme.com' }],
		]);
	});
});

describe(`n8n ${LINE}.x, the example ai-agent-tools`, () => {
	const TOKEN = 'Bearer a-token-of-the-clients';

	/** Imports it as it is; only the credentials are filled in, as a person does. */
	async function imported(): Promise<{ workflow: StoredWorkflow; path: string }> {
		const file = join(__dirname, '../../examples/ai-agent-tools.json');
		const content = JSON.parse(await readFile(file, 'utf8')) as WorkflowContent;
		const bearer = await fixture.api.createCredential({
			name: 'MCP clients',
			type: 'httpBearerAuth',
			data: { token: TOKEN.replace('Bearer ', '') },
		});
		const [account, clientsOnly] = [fixture.credential, bearer].map(({ id, name }) => ({
			id,
			name,
		}));
		let path = '';
		for (const each of content.nodes) {
			if (each.credentials && account) each.credentials = { leadGenApi: account };
			if (each.type === '@n8n/n8n-nodes-langchain.mcpTrigger' && clientsOnly) {
				each.credentials = { httpBearerAuth: clientsOnly };
				path = String(each.parameters.path);
			}
		}
		return { workflow: await fixture.api.createWorkflow(content), path };
	}

	it('serves its tools to those who know the token, and to nobody else', async () => {
		const { workflow, path } = await imported();
		await fixture.api.activateWorkflow(workflow.id);
		await expect(connect(path)).rejects.toThrow();
		await expect(connect(path, { Authorization: 'Bearer wrong' })).rejects.toThrow();

		const client = await connect(path, { Authorization: TOKEN });
		const { tools } = await client.listTools();
		expect(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]).sort()).toEqual(
			[
				['Find_and_verify_email', ['First_Name', 'Last_Name', 'Company_Domain']],
				['Get_credit_balance', []],
				['Verify_email', ['Email']],
			],
		);
		// A model knows from this alone when to call it, what to give, what comes out and what it costs.
		for (const { description = '', name } of tools) {
			expect([name, description]).toEqual([name, expect.stringMatching(/credit/)]);
			expect(description.length).toBeGreaterThan(80);
		}
		const descriptions = tools.flatMap(({ inputSchema }) =>
			Object.values(inputSchema.properties ?? {}),
		);
		expect(descriptions).toEqual(
			new Array(4).fill({ type: 'string', description: expect.stringMatching(/\S/) as string }),
		);

		const ida = { First_Name: 'Ida', Last_Name: 'Sure', Company_Domain: 'acme.com' };
		expect(await answer(client, 'Find_and_verify_email', ida)).toEqual([
			expect.objectContaining({ found: true, email: 'ida.sure@acme.com', status: 'valid' }),
		]);
		expect(await answer(client, 'Verify_email', { Email: 'ida.sure@acme.com' })).toEqual([
			expect.objectContaining({ email: 'ida.sure@acme.com', status: 'valid' }),
		]);
		expect(await answer(client, 'Get_credit_balance', {})).toEqual([
			expect.objectContaining({ credits: 998, plan: 'pro' }),
		]);
		const wrong = { ...ida, Company_Domain: 'Acme Inc' };
		expect(await answer(client, 'Find_and_verify_email', wrong)).toEqual([
			expect.objectContaining({
				error: expect.objectContaining({ field: 'Company Domain' }) as object,
			}),
		]);
		expect(spent()).toBe(2);
	});
});
