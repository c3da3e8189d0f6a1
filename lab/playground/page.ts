import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './versions';

/** @param name such as `docs/measurements/benchmark.md` */
export async function writePage(name: string, text: string): Promise<void> {
	await writeFile(join(ROOT, name), `${text.replace(/\n{3,}/g, '\n\n').trimEnd()}\n`);
}

/** The section of a page whose heading begins so. */
export async function readSection(name: string, title: string): Promise<string | undefined> {
	return (await sectionsOf(name)).find((section) => section.startsWith(title));
}

/**
 * Replaces a section of a page, and leaves the others as they are.
 * @param title how its heading begins, such as `## Memory`
 * @param before the section that a new one goes before; by default it goes to the end
 */
export async function writeSection(
	name: string,
	title: string,
	section: string,
	before?: string,
): Promise<void> {
	const sections = await sectionsOf(name);
	const find = (start: string) => sections.findIndex((each) => each.startsWith(start));
	const at = find(title);
	const next = before === undefined ? -1 : find(before);
	if (at >= 0) sections[at] = section;
	else sections.splice(next < 0 ? sections.length : next, 0, section);
	await writePage(name, sections.join('\n'));
}

async function sectionsOf(name: string): Promise<string[]> {
	return (await readFile(join(ROOT, name), 'utf8')).split(/^(?=## )/m);
}
