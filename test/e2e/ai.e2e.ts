import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type {
	Execution,
	StoredCredential,
	WorkflowContent,
	WorkflowNode,
} from '../../lab/playground/api';
import { API_KEY, LINE, node, until, use, uuid } from '../../lab/fixture/fixture';
import { itemsOf, some, useN8n } from './n8n';
import { ScriptedModel } from './scriptedModel';

/** The advice where the name of a company is given for its domain. */
const NAME_FOR_DOMAIN =
	"Enter the domain of the company's own website, such as acme.com. If you do not know it, leave the field empty and enter the LinkedIn URL of the person.";

/**
 * The action node as a tool: called by a real MCP client through n8n's MCP Server Trigger, and by n8n's AI
 * Agent, whose model says what the test tells it to.
 */
const fixture = useN8n();
const model = new ScriptedModel();
const clients: Client[] = [];
let modelCredential: StoredCredential;
beforeAll(async () => {
	modelCredential = await fixture.api.createCredential({
		name: 'Model',
		type: 'openAiApi',
		data: { apiKey: 'none', url: await model.listen() },
	});
});
beforeEach(async () => {
	await fixture.reset();
});
afterEach(async () => {
	for (const client of clients.splice(0)) await client.close();
});

/** What the ✨ button beside a field writes into it, named after the field. */
function fromModel(key: string, type = 'string', description = ''): string {
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`${description}\`, '${type}') }}`;
}

const person = { firstName: fromModel('First_Name'), lastName: fromModel('Last_Name') };
const TOOLS = {
	'Find business email': {
		resource: 'email',
		operation: 'findBusiness',
		...person,
		company: fromModel('Company_Domain'),
	},
	'Find personal email': {
		resource: 'email',
		operation: 'findPersonal',
		...person,
		linkedinUrl: fromModel('LinkedIn_URL', 'string', 'Empty if you do not know it'),
	},
	'Start scrape': {
		resource: 'scrape',
		operation: 'start',
		filters: { jobTitles: fromModel('Job_Titles', 'json', 'A list of job titles') },
		limit: fromModel('Limit', 'number', 'How many leads at most; each costs a credit'),
	},
	'Verify email': { resource: 'email', operation: 'verify', email: fromModel('Email') },
};
type ToolName = keyof typeof TOOLS;

/** An operation as a tool. An error is an answer. @param fields of the node that are otherwise */
function tool(name: ToolName, fields: Partial<WorkflowNode> = {}): WorkflowNode {
	return node(name, 'n8n-nodes-leadgen.leadGenTool', {
		parameters: TOOLS[name],
		credentials: use(fixture.credential),
		onError: 'continueRegularOutput',
		...fields,
	});
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
	const isThere = async () => (await fetch(url, { method: 'DELETE' })).status !== 404;
	await until('the MCP server', isThere);
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

async function call(client: Client, name: string, args: object) {
	const result = await client.callTool({ name, arguments: { ...args } }, CallToolResultSchema);
	const { content, isError = false } = CallToolResultSchema.parse(result);
	const [first, ...more] = content;
	expect(more).toEqual([]);
	return { isError, text: first?.type === 'text' ? first.text : '' };
}

/** The one item that a tool answers. */
async function answer(client: Client, name: string, args: object): Promise<unknown> {
	const { isError, text } = await call(client, name, args);
	expect([isError, text]).toEqual([false, expect.stringMatching(/^\[.*\]$/)]);
	const [item, ...more] = JSON.parse(text) as unknown[];
	expect(more).toEqual([]);
	return item;
}

function requests(): unknown[] {
	return fixture.sandbox.requests.map(({ path, body }) => [path, body]);
}

function spent(): number {
	return 1000 - fixture.sandbox.credits(API_KEY);
}

describe(`n8n ${LINE}.x, tools over MCP`, () => {
	it('say what they take, send what the model fills in, and answer with the result', async () => {
		const toolDescription = 'Check an address before you write to it. Costs a credit.';
		const verify = { ...TOOLS['Verify email'], descriptionType: 'manual', toolDescription };
		const client = await serve(
			tool('Find personal email'),
			tool('Start scrape'),
			tool('Verify email', { name: 'Check address', parameters: verify }),
		);
		const { tools } = await client.listTools();
		const text = { type: 'string' };
		const profile = { ...text, description: 'Empty if you do not know it' };
		const jobTitles = { description: 'A list of job titles' };
		const limit = { type: 'number', description: 'How many leads at most; each costs a credit' };
		const shown: Array<[name: string, description: string, properties: object]> = [
			['Check_address', toolDescription, { Email: text }],
			[
				'Find_personal_email',
				'Find personal email in LeadGen',
				{ First_Name: text, Last_Name: text, LinkedIn_URL: profile },
			],
			['Start_scrape', 'Start scrape in LeadGen', { Job_Titles: jobTitles, Limit: limit }],
		];
		expect(tools.toSorted((a, b) => a.name.localeCompare(b.name))).toMatchObject(
			shown.map(([name, description, properties]) => ({
				name,
				description,
				inputSchema: { type: 'object', properties, required: Object.keys(properties) },
			})),
		);
		expect(fixture.sandbox.requests).toEqual([]);

		const ann = { First_Name: 'Ann', Last_Name: 'Sure', LinkedIn_URL: '' };
		const found = { email: 'asure@outlook.com', confidence: 0.94, confidenceLevel: 'very_high' };
		expect(await answer(client, 'Find_personal_email', ann)).toEqual({ found: true, ...found });
		const email = 'catchall.ann@acme.com';
		const checked = { status: 'catch_all', deliverable: false, disposable: false };
		expect(await answer(client, 'Check_address', { Email: email })).toEqual({
			...{ email, ...checked, freeProvider: false },
		});
		const scrape = { Job_Titles: ['CTO', 'Head of Sales'], Limit: 5 };
		const { scrapeId } = (await answer(client, 'Start_scrape', scrape)) as { scrapeId: string };
		expect(fixture.sandbox.jobs.map((job) => job.scrapeId)).toEqual([scrapeId]);
		expect(requests()).toEqual([
			['/email/personal', { firstName: 'Ann', lastName: 'Sure' }],
			['/email/verify', { email }],
			['/start', { filters: { jobTitles: ['CTO', 'Head of Sales'], limit: 5 } }],
		]);
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
		const content = withTools(agent, tools);
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
		const execution = await ask(tool('Find business email'), tool('Verify email'));

		expect(execution).toMatchObject({ status: 'success' });
		expect(itemsOf(execution, 'AI Agent')).toEqual([{ output: 'The address is hsure@acme.com' }]);
		const told = (model.prompts[0]?.tools ?? []).map((each) => each.function);
		expect(told.map(({ name, description }) => `${name}: ${description}`).sort()).toEqual([
			'Find_business_email: Find business email in LeadGen',
			'Verify_email: Verify email address in LeadGen',
		]);
		const found = some({ found: true, email: 'hsure@acme.com' });
		const error = {
			message: 'Company Domain must be a domain, but is "Acme Inc"',
			field: 'Company Domain',
			outcome: 'notSent',
			advice: NAME_FOR_DOMAIN,
		};
		expect(model.heard.map((text) => JSON.parse(text) as unknown)).toEqual([
			[some({ error })],
			[found],
			[some({ email: 'hsure@acme.com', status: 'valid' })],
			[found],
		]);
		expect(requests()).toEqual([
			['/email/find', { firstName: 'Hal', lastName: 'Sure', company: 'acme.com' }],
			['/email/verify', { email: 'hsure@acme.com' }],
		]);
	});
});

describe(`n8n ${LINE}.x, the example ai-agent-tools`, () => {
	it('serves its tools to those who know the token, and to nobody else', async () => {
		const bearer = await fixture.api.createCredential({
			name: 'MCP clients',
			type: 'httpBearerAuth',
			data: { token: 'a-token-of-the-clients' },
		});
		const content = await fixture.example('ai-agent-tools');
		const trigger = content.nodes.find(({ type }) => type.endsWith('.mcpTrigger'));
		if (!trigger) throw new Error('There is no MCP Server Trigger');
		trigger.credentials = { httpBearerAuth: { id: bearer.id, name: bearer.name } };
		const path = String(trigger.webhookId);
		const { id } = await fixture.api.createWorkflow(content);
		await fixture.api.activateWorkflow(id);
		await expect(connect(path)).rejects.toThrow();
		await expect(connect(path, { Authorization: 'Bearer wrong' })).rejects.toThrow();

		const client = await connect(path, { Authorization: 'Bearer a-token-of-the-clients' });
		const { tools } = await client.listTools();
		expect(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]).sort()).toEqual(
			[
				['Find_and_verify_email', ['First_Name', 'Last_Name', 'Company_Domain', 'LinkedIn_URL']],
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
			new Array(5).fill({ type: 'string', description: expect.stringMatching(/\S/) as string }),
		);

		const ida = {
			First_Name: 'Ida',
			Last_Name: 'Sure',
			Company_Domain: 'acme.com',
			LinkedIn_URL: '',
		};
		const calls: Array<[tool: string, args: object, item: object]> = [
			['Find_and_verify_email', ida, { found: true, email: 'ida.sure@acme.com', status: 'valid' }],
			[
				'Verify_email',
				{ Email: 'ida.sure@acme.com' },
				{ email: 'ida.sure@acme.com', status: 'valid' },
			],
			['Get_credit_balance', {}, { credits: 998, plan: 'pro' }],
			[
				'Find_and_verify_email',
				{ ...ida, Company_Domain: 'Acme Inc' },
				{ error: some({ field: 'Company Domain' }) },
			],
		];
		for (const [name, args, item] of calls) {
			expect([name, await answer(client, name, args)]).toEqual([name, some(item)]);
		}
		expect(spent()).toBe(2);
	});
});
