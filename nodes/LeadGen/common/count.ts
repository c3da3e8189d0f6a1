/** A number with its noun, such as "1 item" or "2 items". */
export function count(number: number, noun: string): string {
	return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
