import type { IDataObject } from 'n8n-workflow';
import type { TriggerNode } from './node';
import type { Process } from './process';
import type { World } from './world';

/** An active or inactive workflow of trigger nodes, and its static data. */
export class Workflow {
	readonly nodes: TriggerNode[] = [];
	isActive = false;
	isActivating = false;
	private isReconnecting = false;
	isRegistered = false;
	/** A Code node wrote the static data as it was before. */
	hasWrittenBack = false;
	/** Changes with each change of the filters. */
	filters = 0;
	saved = '{}';
	private removal = Promise.resolve();
	private readonly versions = [{ at: 0, text: '{}' }];

	constructor(
		readonly id: string,
		private readonly world: World,
	) {}

	/** How often the static data was saved. */
	get writes(): number {
		return this.versions.length;
	}

	// Activation

	activate(process: Process): void {
		if (this.isActive) return;
		this.world.note(`activate ${this.id}`);
		this.isActive = this.isActivating = true;
		for (const node of this.nodes) node.asked++;
		// n8n answers a person once the workflow is deactivated.
		void this.removal.then(async () => {
			await this.add(process, 'activate');
		});
	}

	deactivate(process: Process): void {
		if (!this.isActive) return;
		this.world.note(`deactivate ${this.id}`);
		this.isActive = this.isActivating = false;
		this.removal = this.remove(process);
	}

	/** Somebody saves or publishes it. */
	async save(process: Process, isChanged: boolean): Promise<void> {
		if (!this.isActive || this.isActivating || this.isReconnecting) return;
		this.world.note(isChanged ? `save ${this.id} with other filters` : `save ${this.id}`);
		this.filters += Number(isChanged);
		for (const node of this.nodes) node.asked += Number(isChanged);
		await this.remove(process);
		await this.add(process, 'update');
	}

	/** A process restarts. */
	async restart(process: Process, isLeading: boolean): Promise<void> {
		this.removal = Promise.resolve();
		this.isReconnecting = false;
		if (!this.isActive) return;
		if (isLeading) await this.add(process, this.isActivating ? 'activate' : 'init');
		else await this.hook(process, 'create', 'init').catch(() => {});
	}

	/** @param isForgotten n8n does not close the triggers, because it could not activate all of them the last time */
	async reconnect(process: Process, isForgotten: boolean): Promise<void> {
		if (!this.isActive || this.isActivating || this.isReconnecting) return;
		const { world, removal } = this;
		world.note(`reconnect ${this.id}`);
		this.isReconnecting = true;
		if (!isForgotten) await process.close([this]);
		await process.wait(1000);
		// n8n gives it up where a person deactivates the workflow meanwhile.
		if (this.removal === removal) await this.add(process, 'activate');
		this.isReconnecting = false;
	}

	private async remove(process: Process): Promise<void> {
		this.world.trouble();
		this.isRegistered = false;
		await this.hook(process, 'delete', 'update').catch(() => {});
		await process.close([this]);
	}

	/** @param mode n8n's word for why */
	async add(process: Process, mode: string): Promise<void> {
		const { world } = this;
		world.trouble(20_000);
		const isOld = world.setting.version === 1;
		const trigger = async () => {
			for (const node of this.nodes) await node.trigger(process, mode);
		};
		// n8n 2 runs both side by side.
		if (!isOld) await trigger();
		// Before n8n 1.115 no hook runs then.
		if (isOld && mode === 'leadershipChange' && world.setting.seed % 2 === 0) {
			await trigger();
			return;
		}
		for (let pause = 1000; ; pause *= 2) {
			await process.wait(world.between(0, 1000));
			try {
				await this.hook(process, 'create', mode);
				break;
			} catch {
				world.note('create fails');
				await this.hook(process, 'delete', mode).catch(() => {});
				if (isOld && mode !== 'init' && mode !== 'leadershipChange') {
					this.isActive = this.isActivating = false;
					return;
				}
				await process.wait(pause);
			}
			if (!this.isActive) return;
		}
		if (isOld) await trigger();
		// n8n 2 may wait for another trigger of the workflow, and begins again if it crashes meanwhile.
		else if (mode === 'activate') await process.wait(world.between(0, 15_000));
		this.isActivating = false;
	}

	private async hook(process: Process, name: 'create' | 'delete', mode: string): Promise<void> {
		const data = this.staticData(process);
		await process.wait(this.world.between(1, 30));
		if (name === 'create') this.isRegistered = this.isActive;
		for (const node of this.nodes) await node.hook(process, name, mode, data.methods);
		data.save();
	}

	// Static data

	/** The static data as it is now, and what saves it if it was changed. */
	staticData(process: Process) {
		const { world } = this;
		const loaded = this.saved;
		const data = JSON.parse(loaded) as IDataObject;
		return {
			loaded,
			methods: { getWorkflowStaticData: () => world.call('static data', (data.global ??= {})) },
			save: () => {
				const text = JSON.stringify(data);
				if (text === loaded) return;
				world.clock.after(world.between(1, 40), () => {
					if (!process.isAlive) return;
					if (world.is('database', 'disk')) world.note('static data is not saved');
					else this.write(text);
				});
			},
		};
	}

	private write(text: string): void {
		this.saved = text;
		this.versions.push({ at: this.world.clock.now, text });
		for (const node of this.nodes) node.saves();
	}

	/** A Code node writes the static data as it was when its execution began. */
	writeBack(ageMs: number): void {
		const { world } = this;
		const old = this.versions.findLast(({ at }) => at <= world.clock.now - ageMs);
		if (world.is('database', 'disk') || !old) return;
		world.note(`the static data of ${String(ageMs)} ms ago is written back`);
		this.hasWrittenBack = true;
		this.write(old.text);
		for (const node of this.nodes) node.forget();
	}
}
