import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { API_KEY, LINE, linkTo, node, until, use } from '../../lab/fixture/fixture';
import { itemsOf, some, useN8n } from './n8n';
import { ScriptedModel } from './scriptedModel';

/**
 * The action node as a tool: called by a real MCP client through n8n's MCP Server Trigger, and by n8n's AI
 * Agent, whose model says what the test tells it to.
 */
const fixture = useN8n();
beforeEach(async () => {
	await fixture.reset();
});

describe(`n8n ${LINE}.x, tools of an AI Agent`, () => {
	/** The newest version of the node that this n8n has. */
	const typeVersion = LINE === '1' ? 3 : 3.1;
	const model = new ScriptedModel();

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
		'Verify email': { resource: 'email', operation: 'verify', email: fromModel('Email') },
	};

	/** Runs an agent that has the tools once. */
	async function ask() {
		const { id, name } = await fixture.api.createCredential({
			name: 'Model',
			type: 'openAiApi',
			data: { apiKey: 'none', url: await model.listen() },
		});
		const content = fixture.content(
			node('Manual', 'n8n-nodes-base.manualTrigger'),
			node('AI Agent', '@n8n/n8n-nodes-langchain.agent', {
				typeVersion,
				parameters: { promptType: 'define', text: 'Find the address of Hal', options: {} },
			}),
		);
		const chatModel = node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', {
			typeVersion: 1.2,
			parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			credentials: { openAiApi: { id, name } },
		});
		const tools = Object.entries(TOOLS).map(([tool, parameters]) =>
			node(tool, 'n8n-nodes-leadgen.leadGenTool', {
				parameters,
				credentials: use(fixture.credential),
				// An error is an answer.
				onError: 'continueRegularOutput',
			}),
		);
		content.nodes.push(chatModel, ...tools);
		for (const each of [chatModel, ...tools]) {
			const type = each === chatModel ? 'ai_languageModel' : 'ai_tool';
			content.connections[each.name] = linkTo('AI Agent', type);
		}
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
				['Verify_email', { Email: 'hal.sure@acme.com' }],
				['Find_business_email', right],
				['Start_scrape', { Job_Titles: ['CTO', 'Head of Sales'], Limit: 5 }],
			],
			'The address is hal.sure@acme.com',
		);
		const execution = await ask();

		expect(execution).toMatchObject({ status: 'success' });
		expect(itemsOf(execution, 'AI Agent')).toEqual([
			{ output: 'The address is hal.sure@acme.com' },
		]);
		const told = (model.prompts[0]?.tools ?? []).map((each) => each.function);
		expect(told.map(({ name, description }) => `${name}: ${description}`).sort()).toEqual([
			'Find_business_email: Find business email in LeadGen',
			'Start_scrape: Start scrape in LeadGen',
			'Verify_email: Verify email address in LeadGen',
		]);
		const found = some({ found: true, email: 'hal.sure@acme.com' });
		const error = {
			message: 'Company Domain must be a domain, but is "Acme Inc"',
			field: 'Company Domain',
			outcome: 'notSent',
			paidCalls: 0,
			advice: expect.stringMatching(/^Enter the domain of the company's own website/) as string,
		};
		const [{ scrapeId, filters } = {}] = fixture.sandbox.jobs;
		expect(model.heard.map((text) => JSON.parse(text) as unknown)).toEqual([
			[some({ error })],
			[found],
			[some({ email: 'hal.sure@acme.com', status: 'valid' })],
			[found],
			[some({ scrapeId, status: 'pending' })],
		]);
		expect(filters).toEqual({ jobTitles: ['CTO', 'Head of Sales'], limit: 5 });
		expect(fixture.sandbox.requests.map(({ path }) => path).sort()).toEqual([
			...['/email/find', '/email/verify', '/start'],
		]);
	});
});

describe(`n8n ${LINE}.x, the example ai-agent-tools`, () => {
	const token = 'a-token-of-the-clients';
	const clients: Client[] = [];
	afterAll(async () => {
		for (const client of clients) await client.close();
	});

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

	it('serves its tools to those who know the token, and to nobody else', async () => {
		const bearer = await fixture.api.createCredential({
			name: 'MCP clients',
			type: 'httpBearerAuth',
			data: { token },
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

		const client = await connect(path, { Authorization: `Bearer ${token}` });
		const { tools } = await client.listTools();
		expect(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]).sort()).toEqual(
			[
				['Find_and_verify_email', ['Last_Name']],
				['Get_credit_balance', []],
				['Verify_email', ['Email']],
			],
		);
		// A model knows from this alone when to call it, what to give, what comes out and what it costs.
		for (const { description = '', inputSchema } of tools) {
			expect(description).toMatch(/credit/);
			expect(description.length).toBeGreaterThan(80);
			const isOptional = (name: string) => !inputSchema.required?.includes(name);
			for (const [name, property] of Object.entries(inputSchema.properties ?? {}))
				expect(property).toEqual({
					type: 'string',
					description: expect.stringMatching(/\S/) as string,
					// A field that may be left out.
					...(isOptional(name) && { default: '' }),
				});
		}

		const ida = { First_Name: 'Ida', Last_Name: 'Sure' };
		const profile = 'https://www.linkedin.com/in/tom-sure';
		const found = { found: true, email: 'ida.sure@acme.com', status: 'valid' };
		const { email, status } = found;
		for (const [name, args, item] of [
			['Find_and_verify_email', { ...ida, Company_Domain: 'acme.com' }, found],
			['Verify_email', { Email: email }, { email, status }],
			['Get_credit_balance', {}, { credits: 998, plan: 'pro' }],
			// The shortest call that can find a person.
			[
				'Find_and_verify_email',
				{ Last_Name: 'Sure', LinkedIn_URL: profile },
				{ found: true, status: 'valid' },
			],
			[
				'Find_and_verify_email',
				{ ...ida, Company_Domain: 'Acme Inc' },
				{ error: some({ field: 'Company Domain' }) },
			],
		] as const) {
			const result = await client.callTool({ name, arguments: args }, CallToolResultSchema);
			const { content, isError } = CallToolResultSchema.parse(result);
			const texts = content.map((each) => each.type === 'text' && each.text);
			expect([name, isError ?? false, texts]).toEqual([name, false, [expect.any(String)]]);
			expect([name, JSON.parse(String(texts[0]))]).toEqual([name, [some(item)]]);
		}
		const paid = fixture.sandbox.requests.filter(({ cost }) => cost > 0);
		expect(paid.map(({ body }) => body)).toEqual([
			{ firstName: 'Ida', lastName: 'Sure', company: 'acme.com' },
			{ email },
			{ lastName: 'Sure', linkedinUrl: profile },
			{ email: expect.stringMatching(/^sure@/) as string },
		]);
		expect(fixture.sandbox.credits(API_KEY)).toBe(996);
	});
});
