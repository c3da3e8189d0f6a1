import { join } from 'node:path';
import {
	chromium,
	selectors,
	type Browser,
	type Locator,
	type Page,
	type PageScreenshotOptions,
} from 'playwright-core';
import type { Owner } from '../../lab/playground/api';
import { ROOT, type N8nLine } from '../../lab/playground/versions';

selectors.setTestIdAttribute('data-test-id');

/** A setting of n8n, which the fixture runs without its editor. */
export const WITH_EDITOR = { N8N_DISABLE_UI: 'false' };

/** What the editors of n8n 1 and 2 call differently. */
const EDITORS = {
	'1': {
		credential: 'Credential to connect with',
		closeNode: 'back-to-canvas',
		switchOn: ['workflow-activate-switch'],
	},
	'2': {
		credential: 'Credential',
		closeNode: 'ndv-close-button',
		switchOn: ['workflow-open-publish-modal-button', 'workflow-publish-button'],
	},
} as const;

type Clip = NonNullable<PageScreenshotOptions['clip']>;

/** Errors that the editor prints with any node: features that need a licence, requests that a new page cuts off. */
const ITS_OWN = [/Failed to fetch sessions metadata/, /Can't connect to n8n/];

/** The editor of n8n in a real browser, signed in. */
export class Editor {
	/** Errors of the page, and everything that it could not show of our nodes. */
	readonly problems: string[] = [];
	readonly words: (typeof EDITORS)[N8nLine];

	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
		private readonly url: string,
		line: N8nLine,
	) {
		this.words = EDITORS[line];
		page.setDefaultTimeout(30_000);
		page.on('pageerror', ({ message }) => this.problems.push(message));
		page.on('console', (message) => {
			const text = message.text();
			// Answers are looked at below; here the editor only repeats their status.
			if (text.startsWith('Failed to load resource')) return;
			const isOurs = message.type() === 'warning' && /leadgen/i.test(text);
			const isError = message.type() === 'error' && !ITS_OWN.some((own) => own.test(text));
			if (isOurs || isError) this.problems.push(`console: ${text}`);
		});
		page.on('response', (response) => {
			const address = response.url();
			if (response.status() >= 400 && /leadgen/i.test(address))
				this.problems.push(`${String(response.status())} ${address}`);
		});
	}

	/** Starts Chromium, and signs in. Nothing but this n8n can be reached. */
	static async open(url: string, owner: Owner, line: N8nLine): Promise<Editor> {
		// A route of Playwright would do that as well, but switches off the cache: each page would load the whole editor anew.
		const onlyN8n = `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(url).hostname}`;
		const browser = await chromium.launch({
			executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
			args: ['--no-sandbox', '--disable-gpu', onlyN8n],
		});
		try {
			const viewport = { width: 1440, height: 900 };
			// Without a graphics card, what moves on the canvas takes a whole processor.
			const page = await browser.newPage({ viewport, reducedMotion: 'reduce' });
			const { email, password } = owner;
			const data = { emailOrLdapLoginId: email, password };
			const answer = await page.request.post(`${url}/rest/login`, { data });
			if (!answer.ok()) throw new Error(`Signing in answered ${String(answer.status())}`);
			return new Editor(browser, page, url, line);
		} catch (error) {
			await browser.close();
			throw error;
		}
	}

	async close(): Promise<void> {
		await this.browser.close();
	}

	async goto(path: string): Promise<void> {
		await this.page.goto(`${this.url}${path}`);
	}

	/** Imports a workflow by its URL into a new one. */
	async importFrom(url: string): Promise<void> {
		const { page } = this;
		await this.goto('/workflow/new');
		await page.getByTestId('workflow-menu').click();
		if (this.words === EDITORS['2']) await page.getByRole('menuitem', { name: 'Import' }).hover();
		await page.getByRole('menuitem', { name: /from url/i }).click();
		const box = page.getByTestId('workflow-url-import-input');
		const input = page.locator('input');
		// n8n 2 marks the input itself.
		await box.and(input).or(box.locator(input)).fill(url);
		await page.getByTestId('confirm-workflow-import-url-button').click();
	}

	async openWorkflow(id: string): Promise<void> {
		await this.goto(`/workflow/${id}`);
		await this.page.locator('.vue-flow__node').first().waitFor();
	}

	/** The panel of a node fills step by step; the collections come last. */
	async untilNodeIsOpen(): Promise<void> {
		await this.page.getByPlaceholder('Add Option').waitFor();
	}

	/** An entry of the node creator, or all of them. */
	entry(name = '.*'): Locator {
		const entries = this.page.getByTestId('node-creator-item-name');
		return entries.filter({ hasText: new RegExp(`^\\s*${name}\\s*$`) });
	}

	/** The labels and notices of the open node as a person sees them, from the top down. */
	async labels(): Promise<string[]> {
		const shown = this.page
			.getByTestId('node-parameters')
			.locator('label.n8n-input-label:visible, [role=region]:visible');
		// Behind a label, where the mouse would make them visible, are the words Fixed and Expression.
		return (await shown.allInnerTexts()).map((text) => text.trim().split(/\s*\n/)[0] ?? '');
	}

	/** A parameter of the open node or credential. */
	parameter(name: string): Locator {
		return this.page.getByTestId(`parameter-input-${name}`);
	}

	/** Types into a field of the open credential. */
	async fill(name: string, text: string): Promise<void> {
		await this.parameter(name).locator('input').fill(text);
		// n8n takes a text over 200 ms after its last change, and nothing shows it.
		// Saved before that, a credential has no key, and is not tested.
		await this.page.waitForTimeout(500);
	}

	/** The output of the open node as a table, with its heading. */
	async table(): Promise<string[][]> {
		const output = this.page.getByTestId('output-panel');
		await output.getByTestId('radio-button-table').click();
		await output.locator('table tbody td').first().waitFor();
		const rows = await output.locator('table tr').all();
		return await Promise.all(
			// The last column only fills the width.
			rows.map(async (row) => (await row.locator('th, td').allInnerTexts()).slice(0, -1)),
		);
	}

	/** Activates the open workflow by the buttons that the editor has for it; n8n 2 calls it publishing. */
	async activate(): Promise<void> {
		for (const button of this.words.switchOn) await this.page.getByTestId(button).click();
	}

	/** Where the nodes and notes of the open workflow are, when all of them are in sight. */
	private async nodesOfCanvas(): Promise<Clip> {
		await this.page.getByTestId('zoom-to-fit').click();
		// The canvas moves for a moment.
		await this.page.waitForTimeout(500);
		const nodes = await this.page.locator('.vue-flow__node').all();
		const boxes = await Promise.all(nodes.map((node) => node.boundingBox()));
		const shown = boxes.filter((box) => box !== null);
		const [x, y] = [Math.min(...shown.map((box) => box.x)), Math.min(...shown.map((box) => box.y))];
		const right = Math.max(...shown.map((box) => box.x + box.width));
		const bottom = Math.max(...shown.map((box) => box.y + box.height));
		// The name of a node is below it.
		return { x: x - 20, y: y - 20, width: right - x + 40, height: bottom - y + 80 };
	}

	/** Writes docs/images/NAME.png of a part of the page, or of the whole canvas, where SCREENSHOTS=1 asks for it. */
	async picture(name: string, shown?: Locator | Clip): Promise<void> {
		if (process.env.SCREENSHOTS !== '1') return;
		const part = shown ?? (await this.nodesOfCanvas());
		const messages = this.page.locator('.el-notification__closeBtn');
		for (const message of await messages.all()) await message.click();
		// What fades in or out takes a moment.
		await this.page.waitForTimeout(500);
		const path = join(ROOT, `docs/images/${name}.png`);
		if ('x' in part) await this.page.screenshot({ path, clip: part, animations: 'disabled' });
		else await part.screenshot({ path, animations: 'disabled' });
	}
}
