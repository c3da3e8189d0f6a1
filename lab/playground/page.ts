import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './versions';

/** Writes a page of the documentation, in the style of the others. @param name such as `docs/measurements/benchmark.md` */
export async function writePage(name: string, text: string): Promise<void> {
	const file = join(ROOT, name);
	const style = await resolveConfig(file);
	await writeFile(file, await format(text, { ...style, filepath: file }));
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
	const sections = (await readFile(join(ROOT, name), 'utf8')).split(/^(?=## )/m);
	const find = (start: string) => sections.findIndex((each) => each.startsWith(start));
	const at = find(title);
	const next = before === undefined ? -1 : find(before);
	if (at >= 0) sections[at] = section;
	else sections.splice(next < 0 ? sections.length : next, 0, section);
	await writePage(name, sections.join('\n'));
}
