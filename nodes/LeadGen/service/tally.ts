/** What a node has used in an execution so far: in a loop, when n8n runs it again, and as a tool of an AI agent. */
export class Tally {
	/** The last balance that was read, if any. */
	lastBalance: number | undefined;
	/** How much the balance has decreased since the node first ran. Credits that were added do not count. */
	used = 0;
	/** The maximum cost of its scrapes. It is not known when the service charges them (docs/service.md). */
	owed = 0;
	/** The cost when the balance was last read. */
	costBefore = 0;
	batch = 0.5;
	allowed = 0;
	/** The weight of the calls since the balance was last read. */
	since = 0;
	/** Credits per unit of weight. A unit is a lookup, or a lead of a scrape. */
	price = 1;
	/** The lookups with a result since the balance was last read. */
	results = 0;
	/** Whether the service shows late in the balance what calls cost. */
	isLate = false;
	turn: Promise<void> = Promise.resolve();
	readonly inFlight = new Set<Promise<unknown>>();

	/** The cost so far, including what is owed. */
	get cost(): number {
		return Math.max(this.used, this.owed);
	}

	/** The balance minus what is owed but not charged yet. */
	get balance(): number {
		return (this.lastBalance ?? 0) - (this.cost - this.used);
	}
}
