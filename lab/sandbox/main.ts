import { parseArgs } from 'node:util';
import { startSandbox } from './server';

const HELP = `Runs the sandbox of the lead-generation service on 127.0.0.1, until it is stopped.

  npx tsx lab/sandbox/main.ts [--port 4010] [--seed 1] [--base-path /v1]

  --port       port to listen on; 0 takes any free one
  --seed       number that decides every result
  --base-path  path to serve the service under, default none
  --help       this text

The API key is test-key. The control endpoint is under /_sandbox/, see lab/sandbox/README.md.`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '4010' },
			seed: { type: 'string', default: '1' },
			'base-path': { type: 'string', default: '' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(HELP);
		return;
	}
	const [port, seed] = [Number(values.port), Number(values.seed)];
	if (!Number.isInteger(port) || !Number.isInteger(seed)) {
		throw new Error('--port and --seed are whole numbers');
	}
	const sandbox = await startSandbox({
		port,
		basePath: values['base-path'],
		settings: { seed },
	});
	console.log(`The sandbox listens at ${sandbox.url}`);
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => void sandbox.close());
	}
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
