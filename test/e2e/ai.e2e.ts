import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { API_KEY, LINE, linkTo, node, until, use } from '../../lab/fixture/fixture';
import { itemsOf, nodeOf, some, useN8n } from './n8n';
import { scriptedModel } from './scriptedModel';

/**
 * The action node as a tool: called by a real MCP client through n8n's MCP Server Trigger, and by n8n's AI
 * Agent, whose model says what the test tells it to.
 */
const fixture = useN8n();
beforeEach(async () => {
	await fixture.reset();
});

/** What the ✨ button beside a field writes into it, named after the field. */
function fromModel(key: string, type = 'string', description = ''): string {
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`${description}\`, '${type}') }}`;
}

const TOOLS = {
	'Find business email': {
		resource: 'email',
		operation: 'findBusiness',
		firstName: fromModel('First_Name'),
		lastName: fromModel('Last_Name'),
		company: fromModel('Company_Domain'),
	},
	'Start scrape': {
		resource: 'scrape',
		operation: 'start',
		filters: { jobTitles: fromModel('Job_Titles', 'json', 'A list of job titles') },
		limit: fromModel('Limit', 'number', 'How many leads at most; each costs a credit'),
	},
};

/** Runs an agent that has the tools once, with the model at this address. */
async function runAgent(url: string) {
	const openAiApi = await fixture.api.createCredential({
		...{ name: 'Model', type: 'openAiApi', data: { apiKey: 'none', url } },
	});
	const content = fixture.content(
		node('Manual', 'n8n-nodes-base.manualTrigger'),
		node('AI Agent', '@n8n/n8n-nodes-langchain.agent', {
			// The newest one that this n8n has.
			typeVersion: LINE === '1' ? 3 : 3.1,
			parameters: { promptType: 'define', text: 'Find the address of Hal', options: {} },
		}),
	);
	const model = node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', {
		typeVersion: 1.2,
		parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
		credentials: { openAiApi: { id: openAiApi.id, name: openAiApi.name } },
	});
	content.nodes.push(model);
	content.connections.Model = linkTo('AI Agent', 'ai_languageModel');
	for (const [name, parameters] of Object.entries(TOOLS)) {
		// An error is an answer.
		const settings = { onError: 'continueRegularOutput', credentials: use(fixture.credential) };
		content.nodes.push(node(name, 'n8n-nodes-leadgen.leadGenTool', { parameters, ...settings }));
		content.connections[name] = linkTo('AI Agent', 'ai_tool');
	}
	const { id } = await fixture.api.createWorkflow(content);
	return await fixture.api.runWorkflow(id, 'Manual');
}

it('As tools of an AI Agent, it answers the model, which corrects itself by what an error says, and is paid for once', async () => {
	const hal = { First_Name: 'Hal', Last_Name: 'Sure', Company_Domain: 'Acme Inc' };
	const right = { ...hal, Company_Domain: 'acme.com' };
	const { url, prompts } = await scriptedModel(
		[['Find_business_email', hal]],
		[['Find_business_email', right]],
		[
			['Find_business_email', right],
			['Start_scrape', { Job_Titles: ['CTO', 'Head of Sales'], Limit: 5 }],
		],
		'The address is hal.sure@acme.com',
	);
	const execution = await runAgent(url);

	expect(execution).toMatchObject({ status: 'success' });
	expect(itemsOf(execution, 'AI Agent')).toEqual([{ output: 'The address is hal.sure@acme.com' }]);
	const told = (prompts[0]?.tools ?? []).map((each) => each.function);
	expect(told.map(({ name, description }) => `${name}: ${description}`).sort()).toEqual([
		'Find_business_email: Find business email in LeadGen',
		'Start_scrape: Start scrape in LeadGen',
	]);
	const found = some({ found: true, email: 'hal.sure@acme.com' });
	const error = {
		message: 'Company Domain must be a domain, but is "Acme Inc"',
		...{ field: 'Company Domain', outcome: 'notSent', paidCalls: 0 },
		advice: expect.stringMatching(/^Enter the domain of the company's own website/) as string,
	};
	const [{ scrapeId, filters } = {}] = fixture.sandbox.jobs;
	const heard = prompts.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
	expect(heard.map(({ content }) => JSON.parse(String(content)) as unknown)).toEqual([
		[some({ error })],
		[found],
		[found],
		[some({ scrapeId, status: 'pending' })],
	]);
	expect(filters).toEqual({ jobTitles: ['CTO', 'Head of Sales'], limit: 5 });
	const paths = fixture.sandbox.requests.map(({ path }) => path);
	expect(paths.sort()).toEqual(['/email/find', '/start']);
});

const clients: Client[] = [];
afterAll(async () => {
	for (const client of clients) await client.close();
});

/** Connects an MCP client with a token to the MCP Server Trigger of an active workflow. */
async function connect(path: string, token: string): Promise<Client> {
	const url = new URL(`${fixture.url}/mcp/${path}`);
	const isThere = async () => (await fetch(url, { method: 'DELETE' })).status !== 404;
	await until('the MCP server', isThere);
	const client = new Client({ name: 'test', version: '1.0.0' });
	clients.push(client);
	const requestInit = { headers: { Authorization: token } };
	await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
	return client;
}

it('The example ai-agent-tools serves its tools to those who know the token, and to nobody else', async () => {
	const token = 'a-token-of-the-clients';
	const bearer = await fixture.api.createCredential({
		...{ name: 'MCP clients', type: 'httpBearerAuth', data: { token } },
	});
	const content = await fixture.example('ai-agent-tools');
	const trigger = nodeOf(content, 'mcpTrigger');
	trigger.credentials = { httpBearerAuth: { id: bearer.id, name: bearer.name } };
	const path = String(trigger.webhookId);
	const { id } = await fixture.api.createWorkflow(content);
	await fixture.api.activateWorkflow(id);
	await expect(connect(path, '')).rejects.toThrow();
	await expect(connect(path, 'Bearer wrong')).rejects.toThrow();

	const client = await connect(path, `Bearer ${token}`);
	const { tools } = await client.listTools();
	expect(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]).sort()).toEqual([
		['Find_and_verify_email', ['Last_Name']],
		['Get_credit_balance', []],
		['Verify_email', ['Email']],
	]);
	// A model knows from this alone when to call it, what to give, what comes out and what it costs.
	for (const { description = '', inputSchema } of tools) {
		expect(description).toMatch(/^(?=.*credit).{81}/s);
		for (const [name, property] of Object.entries(inputSchema.properties ?? {}))
			expect(property).toEqual({
				type: 'string',
				description: expect.stringMatching(/\S/) as string,
				// A field that may be left out.
				...(!inputSchema.required?.includes(name) && { default: '' }),
			});
	}

	const ida = { First_Name: 'Ida', Last_Name: 'Sure' };
	const email = 'ida.sure@acme.com';
	// The shortest call that can find a person.
	const shortest = { Last_Name: 'Sure', LinkedIn_URL: 'https://www.linkedin.com/in/tom-sure' };
	const noDomain = { ...ida, Company_Domain: 'Acme Inc' };
	for (const [name, args, item] of [
		['Find_and_verify_email', { ...ida, Company_Domain: 'acme.com' }, { email, status: 'valid' }],
		['Verify_email', { Email: email }, { email, status: 'valid' }],
		['Get_credit_balance', {}, { credits: 998, plan: 'pro' }],
		['Find_and_verify_email', shortest, { found: true, status: 'valid' }],
		['Find_and_verify_email', noDomain, { error: some({ field: 'Company Domain' }) }],
	] as const) {
		const result = await client.callTool({ name, arguments: args }, CallToolResultSchema);
		const { content, isError = false } = CallToolResultSchema.parse(result);
		const items = content.map((each) => each.type === 'text' && (JSON.parse(each.text) as unknown));
		expect({ name, isError, items }).toEqual({ name, isError: false, items: [[some(item)]] });
	}
	expect(fixture.sandbox.requests.filter(({ cost }) => cost > 0).map(({ body }) => body)).toEqual([
		{ firstName: 'Ida', lastName: 'Sure', company: 'acme.com' },
		{ email },
		{ lastName: 'Sure', linkedinUrl: shortest.LinkedIn_URL },
		{ email: expect.stringMatching(/^sure@/) as string },
	]);
	expect(fixture.sandbox.credits(API_KEY)).toBe(996);
});
