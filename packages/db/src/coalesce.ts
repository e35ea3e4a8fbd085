/** The maximum number of calls that one statement serves, so that it stays short. */
const MAX_CALLS = 100;

/** A statement that fails after this many milliseconds has timed out. One that fails for its values fails sooner. */
const HUNG_AFTER_MS = 1_000;

type CoalesceOptions<Input> = {
  /** How many statements run at once. */
  concurrency: number;
  /** Calls share a statement only with calls of the same key, and keys take turns; by default a call shares it with all. */
  keyOf?: (input: Input) => string;
  /**
   * What follows when a statement fails. `each`, the default: each of its calls is retried alone, so that no call fails because
   * of another. `together`, for statements that the values of a call cannot make fail: they are retried once as they were.
   */
  retry?: 'each' | 'together';
  hungAfterMs?: number;
};

/**
 * Serves concurrent calls with one statement: while `concurrency` statements are running, further calls wait and share the
 * next one. A single call is not delayed; under load one round trip serves many calls. `run` returns its outputs in the
 * order of its inputs. When it fails, its calls are retried; when it has timed out, they fail, and everything that waits fails
 * with them, since each further statement would time out in turn.
 */
export const coalesce = <Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  { concurrency, keyOf = () => '', retry = 'each', hungAfterMs = HUNG_AFTER_MS }: CoalesceOptions<Input>,
): ((input: Input) => Promise<Output>) => {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  /** By key: the one that has the next statement first. */
  const waiting = new Map<string, Call[]>();
  let running = 0;

  const rejectAll = (calls: Call[], error: unknown): void => {
    for (const call of calls) call.reject(error);
  };
  /**
   * Runs a statement. Returns its calls when it failed and they may be retried, in groups that share a statement. `retried`: the
   * groups of the same calls that follow.
   */
  const runFor = async (calls: Call[], mayRetry: boolean, retried: Call[][] = []): Promise<Call[][]> => {
    const startedAt = performance.now();
    try {
      const outputs = await run(calls.map(({ input }) => input));
      if (outputs.length !== calls.length) throw new Error('a coalesced statement did not return one output per call');
      for (const [n, call] of calls.entries()) call.resolve(outputs[n] as Output);
    } catch (error) {
      const hasHung = performance.now() - startedAt >= hungAfterMs;
      if (!hasHung && mayRetry) return retry === 'together' ? [calls] : calls.map((call) => [call]);
      const failed = hasHung ? [...calls, ...retried.splice(0).flat(), ...[...waiting.values()].flat()] : calls;
      if (hasHung) waiting.clear();
      rejectAll(failed, error);
    }
    return [];
  };
  const serve = async (calls: Call[]): Promise<void> => {
    const again = await runFor(calls, retry === 'together' || calls.length > 1);
    for (let group = again.shift(); group; group = again.shift()) await runFor(group, false, again);
  };

  const takeNext = (): Call[] => {
    const [next] = waiting;
    if (next === undefined) return [];
    const [key, calls] = next;
    const taken = calls.splice(0, MAX_CALLS);
    waiting.delete(key);
    if (calls.length > 0) waiting.set(key, calls);
    return taken;
  };
  const work = async (): Promise<void> => {
    running += 1;
    while (waiting.size > 0) await serve(takeNext());
    running -= 1;
  };

  return (input) =>
    new Promise((resolve, reject) => {
      const call = { input, resolve, reject };
      const key = keyOf(input);
      const others = waiting.get(key);
      if (others) others.push(call);
      else waiting.set(key, [call]);
      if (running < concurrency) void work();
    });
};
