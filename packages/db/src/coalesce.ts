/** The maximum number of calls that one statement serves, so that it stays short. */
const MAX_CALLS = 100;

type CoalesceOptions<Input> = {
  /** How many statements run at once. */
  concurrency: number;
  /** Calls share a statement only with calls of the same key; by default with all. */
  keyOf?: (input: Input) => string;
  /**
   * For a statement that no single call can make fail. When it fails, it is run once more for the same calls, and then fails
   * for all of them. A failure after this many milliseconds was a time-out: it is not repeated, and everything that waits
   * fails with it, since each further statement would time out in turn. Without this option each call is retried alone.
   */
  hungAfterMs?: number;
};

/**
 * Serves concurrent calls with one statement: while `concurrency` statements are running, further calls wait and share the
 * next one. A single call is not delayed; under load one round trip serves many calls. `run` returns its outputs in the
 * order of its inputs. When it fails for several calls, each is retried alone, so that no call fails because of another; for
 * the alternative see {@link CoalesceOptions}.
 */
export const coalesce = <Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  { concurrency, keyOf, hungAfterMs }: CoalesceOptions<Input>,
): ((input: Input) => Promise<Output>) => {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  let waiting: Call[] = [];
  let running = 0;

  const runFor = async (calls: Call[]): Promise<void> => {
    const outputs = await run(calls.map(({ input }) => input));
    if (outputs.length !== calls.length) throw new Error('a coalesced statement did not return one output per call');
    for (const [n, call] of calls.entries()) call.resolve(outputs[n] as Output);
  };
  const rejectAll = (calls: Call[], error: unknown): void => {
    for (const call of calls) call.reject(error);
  };
  const serveEach = async (calls: Call[]): Promise<void> => {
    for (const call of calls) await runFor([call]).catch((error: unknown) => call.reject(error));
  };
  const serveTogether = async (calls: Call[], hungAfter: number): Promise<void> => {
    for (const isLast of [false, true]) {
      const startedAt = performance.now();
      try {
        return await runFor(calls);
      } catch (error) {
        const hasHung = performance.now() - startedAt >= hungAfter;
        if (hasHung) rejectAll(waiting.splice(0), error);
        if (hasHung || isLast) return rejectAll(calls, error);
      }
    }
  };
  const serve = async (calls: Call[]): Promise<void> => {
    if (hungAfterMs !== undefined) return serveTogether(calls, hungAfterMs);
    await runFor(calls).catch((error: unknown) => (calls.length === 1 ? rejectAll(calls, error) : serveEach(calls)));
  };

  const takeNext = (): Call[] => {
    const [first] = waiting;
    if (keyOf === undefined || first === undefined) return waiting.splice(0, MAX_CALLS);
    const key = keyOf(first.input);
    const next = new Set(waiting.filter(({ input }) => keyOf(input) === key).slice(0, MAX_CALLS));
    waiting = waiting.filter((call) => !next.has(call));
    return [...next];
  };
  const work = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) await serve(takeNext());
    running -= 1;
  };

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (running < concurrency) void work();
    });
};
