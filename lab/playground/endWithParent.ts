/**
 * Loaded into a process, ends it, as by SIGTERM, soon after the process that started it has gone,
 * which cannot say so when it was killed outright.
 */
const { ppid } = process;

const timer = setInterval(() => {
	if (process.ppid === ppid) return;
	clearInterval(timer);
	process.kill(process.pid, 'SIGTERM');
}, 500).unref();

export {};
