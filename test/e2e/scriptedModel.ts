import { json } from 'node:stream/consumers';
import { serve } from './n8n';

/** What a model says in one turn: its last word, or the tools that it wants called. */
export type Turn = string | Array<[tool: string, args: object]>;

/** What the model was told: the tools it has, and the conversation so far. */
interface Prompt {
	tools: Array<{ function: { name: string; description: string } }>;
	messages: Array<{ role: string; content: unknown }>;
}

/**
 * A language model behind OpenAI's interface that says one turn after the other, whatever it is asked.
 * @returns the address of its interface, and what it was told
 */
export async function scriptedModel(...turns: Turn[]) {
	const prompts: Prompt[] = [];
	const url = await serve((request, response) => {
		void json(request).then((prompt) => {
			const turn = turns[prompts.length] ?? 'Done';
			prompts.push(prompt as Prompt);
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify(completion(turn, `turn_${String(prompts.length)}`)));
		});
	});
	return { url: `${url}/v1`, prompts };
}

function completion(turn: Turn, id: string): object {
	const isLast = typeof turn === 'string';
	const calls = isLast ? [] : turn;
	const tool_calls = calls.map(([name, args], index) => ({
		id: `${id}_${String(index)}`,
		type: 'function',
		function: { name, arguments: JSON.stringify(args) },
	}));
	const message = isLast ? { content: turn } : { content: null, tool_calls };
	const choice = {
		index: 0,
		message: { role: 'assistant', ...message },
		finish_reason: isLast ? 'stop' : 'tool_calls',
	};
	return { id, object: 'chat.completion', created: 1, model: 'scripted', choices: [choice] };
}
