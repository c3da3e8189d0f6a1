import { join } from 'node:path';
import {
	chromium,
	selectors,
	type Browser,
	type Locator,
	type Page,
	type PageScreenshotOptions,
} from 'playwright-core';
import { LINE, OWNER } from '../../lab/fixture/fixture';
import { ROOT } from '../../lab/playground/versions';

selectors.setTestIdAttribute('data-test-id');

/** What the editors of n8n 1 and 2 call differently. */
export const WORDS = {
	'1': {
		closeNode: 'back-to-canvas',
		switchOn: ['workflow-activate-switch'],
	},
	'2': {
		closeNode: 'ndv-close-button',
		switchOn: ['workflow-open-publish-modal-button', 'workflow-publish-button'],
	},
}[LINE];

type Clip = NonNullable<PageScreenshotOptions['clip']>;

/** Errors that the editor prints with any node: features that need a licence, requests that a new page cuts off. */
const ITS_OWN = [/Failed to fetch sessions metadata/, /Can't connect to n8n/];

/** The editor of n8n in a real browser, signed in. */
export class Editor {
	/** Errors of the page, and everything that it could not show of our nodes. */
	readonly problems: string[] = [];

	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
	) {
		// A busy machine is slow.
		page.setDefaultTimeout(120_000);
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
	static async open(baseURL: string): Promise<Editor> {
		// A route of Playwright would switch off the cache: each page would load the whole editor anew.
		const onlyN8n = `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(baseURL).hostname}`;
		const browser = await chromium.launch({
			executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
			args: ['--no-sandbox', '--disable-gpu', onlyN8n],
		});
		const viewport = { width: 1440, height: 900 };
		// Without a graphics card, what moves on the canvas takes a whole processor.
		const page = await browser.newPage({ baseURL, viewport, reducedMotion: 'reduce' });
		const data = { emailOrLdapLoginId: OWNER.email, password: OWNER.password };
		await page.request.post('/rest/login', { data, failOnStatusCode: true });
		return new Editor(browser, page);
	}

	async close(): Promise<void> {
		await this.browser.close();
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

	/** The field of a parameter of the open credential. */
	field(name: string): Locator {
		return this.page.getByTestId(`parameter-input-${name}`).locator('input');
	}

	/** Types into a field of the open credential. */
	async fill(name: string, text: string): Promise<void> {
		await this.field(name).fill(text);
		// n8n takes a text over 200 ms after its last change, and nothing shows it.
		// Saved before that, a credential has no key, and is not tested.
		await this.page.waitForTimeout(500);
	}

	/** The rows of the output of the open node as a table, with bars between the cells. */
	async table(): Promise<string[]> {
		const output = this.page.getByTestId('output-panel');
		await output.getByTestId('radio-button-table').click();
		await output.locator('table tbody td').first().waitFor();
		const rows = await output.locator('table tr').all();
		const cells = await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
		// The last column only fills the width.
		return cells.map((texts) => texts.slice(0, -1).join(' | '));
	}

	/** Where the nodes and notes of the open workflow are, when all of them are in sight. */
	async canvas(): Promise<Clip> {
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

	/** Writes docs/images/NAME.png of a part of the page, where SCREENSHOTS=1 asks for it. */
	async picture(name: string, clip: Clip | null): Promise<void> {
		if (process.env.SCREENSHOTS !== '1' || !clip) return;
		const messages = this.page.locator('.el-notification__closeBtn');
		for (const message of await messages.all()) await message.click();
		// What fades in or out takes a moment.
		await this.page.waitForTimeout(500);
		const path = join(ROOT, `docs/images/${name}.png`);
		await this.page.screenshot({ path, clip, animations: 'disabled' });
	}
}
