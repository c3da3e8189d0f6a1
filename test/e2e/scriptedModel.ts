import { json } from 'node:stream/consumers';
import { serve } from './n8n';

/** What a model says in one turn: its last word, or the tools that it wants called. */
export type Turn = string | Array<[tool: string, args: object]>;

/** What the model was told: the tools it has, and the conversation so far. */
export interface Prompt {
	tools: Array<{ function: { name: string; description: string } }>;
	messages: Array<{ role: string; content: unknown }>;
}

/** A language model behind OpenAI's interface that says what it is told to, whatever it is asked. */
export class ScriptedModel {
	readonly prompts: Prompt[] = [];
	private turns: Turn[] = [];

	/** @returns the address of its interface */
	async listen(): Promise<string> {
		const url = await serve((request, response) => {
			void json(request).then((prompt) => {
				this.prompts.push(prompt as Prompt);
				response.setHeader('content-type', 'application/json');
				response.end(JSON.stringify(this.completion(this.turns.shift() ?? 'Done')));
			});
		});
		return `${url}/v1`;
	}

	/** What it says next; nothing that it was told before counts any more. */
	script(...turns: Turn[]): void {
		this.turns = turns;
		this.prompts.length = 0;
	}

	/** What the tools answered in the conversation so far, as text. */
	get heard(): string[] {
		const { messages = [] } = this.prompts.at(-1) ?? {};
		return messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
	}

	private completion(turn: Turn): object {
		const id = `turn_${String(this.prompts.length)}`;
		let message: object = { role: 'assistant', content: turn };
		if (typeof turn !== 'string') {
			const tool_calls = turn.map(([name, args], index) => ({
				id: `${id}_${String(index)}`,
				type: 'function',
				function: { name, arguments: JSON.stringify(args) },
			}));
			message = { role: 'assistant', content: null, tool_calls };
		}
		const finish_reason = typeof turn === 'string' ? 'stop' : 'tool_calls';
		const choices = [{ index: 0, message, finish_reason }];
		return { id, object: 'chat.completion', created: 1, model: 'scripted', choices };
	}
}
