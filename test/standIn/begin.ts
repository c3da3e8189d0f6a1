import * as crypto from 'node:crypto';
import * as n8nWorkflow from 'n8n-workflow';
import { Clock } from './clock';
import type { Copy } from './process';
import { World, type Setting } from './world';

/** Begins worlds around the real trigger, one after the other. */

const PROCESSES = 10;
/** For all worlds of a suite. */
export const copies: Copy[] = [];
/** Of the world that began last. */
export let clock = new Clock();
let world: World | undefined;
let uuids = 0;
let worlds = 0;

/** Where nothing goes wrong. */
export const QUIET: Setting = {
	...{ seed: 1, mode: 'startScrape', schedule: 'once', topology: 'single', version: 2 },
	...{ second: 'none', starts: [], faults: [] },
};

/** To be done before all tests: the trigger takes its time, its IDs and its chances from the world. */
export async function loadCopies(): Promise<void> {
	jest.doMock('crypto', () => ({ ...crypto, randomUUID: () => `uuid-${String(uuids++)}` }));
	for (let index = 0; index < PROCESSES; index++) {
		await jest.isolateModulesAsync(async () => {
			jest.doMock('n8n-workflow', () => ({
				...n8nWorkflow,
				sleep: async (ms: number) => await copy.process?.wait(ms),
			}));
			const { LeadGenTrigger } = await import('../../nodes/LeadGen/LeadGenTrigger.node');
			const { memoryOf } = await import('../../nodes/LeadGen/trigger/memory');
			const copy: Copy = { node: new LeadGenTrigger(), memoryOf };
			copies.push(copy);
		});
	}
	jest.spyOn(Date, 'now').mockImplementation(() => clock.read());
	jest.spyOn(Math, 'random').mockImplementation(() => world?.random() ?? 0);
}

/** A world whose workflows are just activated. */
export function begin(setting: Setting): World {
	uuids = 1000;
	world = new World(setting, copies, String(worlds++));
	({ clock } = world);
	world.events.activate();
	return world;
}
