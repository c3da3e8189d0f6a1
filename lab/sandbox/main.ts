import { parseArgs } from 'node:util';
import { startSandbox } from './server';

/** Runs the sandbox on 127.0.0.1 until it is stopped. */
async function main(): Promise<void> {
	const { values } = parseArgs({ options: { port: { type: 'string', default: '4010' } } });
	const sandbox = await startSandbox({ port: Number(values.port) });
	console.log(`The sandbox listens at ${sandbox.url}. The API key is test-key.`);
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => void sandbox.close());
	}
}

void main();
