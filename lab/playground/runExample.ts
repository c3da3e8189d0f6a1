import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { WorkflowNode } from './api';
import type { RunExample } from './demo';
import type { Engine } from './engine';
import { readExample } from './examples';
import { API_KEY, type Instance } from './instance';

/** Runs the examples that are in an n8n, as a person does. */
export function onN8n({ api, examples }: Instance): RunExample {
	return async (name, signal) => {
		const workflow = examples.get(name);
		const trigger = workflow?.nodes.find(({ type }) => type === 'n8n-nodes-base.manualTrigger');
		if (!workflow || !trigger) throw new Error(`examples/${name}.json has no Manual Trigger`);
		return await api.runWorkflow(workflow.id, trigger.name, signal);
	};
}

/**
 * Runs the LeadGen node of an example on n8n's engine. It has none of n8n's own nodes, so the node gets the
 * rows that they make.
 */
export function onEngine(engine: Engine, baseUrl: string): RunExample {
	return async (name, signal) => {
		const { nodes } = await readExample(name);
		const leadGen = nodes.find(({ type }) => type === 'n8n-nodes-leadgen.leadGen');
		if (!leadGen) throw new Error(`examples/${name}.json has no LeadGen node`);
		const items = rowsOf(nodes);
		const { outputs, error, run } = await engine.runLeadGen({
			baseUrl,
			credential: { apiKey: API_KEY },
			parameters: leadGen.parameters as INodeParameters,
			items,
			onStart: (stop) => {
				signal.addEventListener('abort', stop, { once: true });
			},
		});
		const rows = items.map((json) => ({ json }));
		return {
			id: name,
			status: run.status,
			mode: 'manual',
			error: error?.message,
			nodes: { 'One item per person': { outputs: [rows] }, [leadGen.name]: { outputs } },
		};
	};
}

/** The people that an example holds; one empty row for an example without. */
function rowsOf(nodes: WorkflowNode[]): IDataObject[] {
	const json = nodes.find(({ name }) => name === 'People')?.parameters.jsonOutput;
	if (typeof json !== 'string') return [{}];
	return (JSON.parse(json) as { people: IDataObject[] }).people;
}
