import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './versions';

/** @param name such as `docs/measurements/benchmark.md` */
export async function writePage(name: string, text: string): Promise<void> {
	await writeFile(join(ROOT, name), `${text.replace(/\n{3,}/g, '\n\n').trimEnd()}\n`);
}

/** The sections of a page whose headings begin so; those that it does not have are left out. */
export async function readSections(name: string, headings: string[]): Promise<string[]> {
	const sections = await sectionsOf(name);
	return headings.flatMap((heading) => sections.find((each) => each.startsWith(heading)) ?? []);
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
