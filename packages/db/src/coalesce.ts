/** The maximum number of calls that one statement serves, so that it stays short. */
const MAX_CALLS = 100;

/**
 * Serves concurrent calls with one statement: while `concurrency` statements are running, further calls wait and share the
 * next one. A single call is not delayed; under load one round trip serves many calls. `run` returns its outputs in the
 * order of its inputs. When it fails for several calls, each is retried alone, so that no call fails because of another.
 */
export const coalesce = <Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  concurrency: number,
): ((input: Input) => Promise<Output>) => {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  const waiting: Call[] = [];
  let running = 0;

  const serve = async (calls: Call[]): Promise<void> => {
    try {
      const outputs = await run(calls.map(({ input }) => input));
      if (outputs.length !== calls.length) throw new Error('a coalesced statement did not return one output per call');
      for (const [n, call] of calls.entries()) call.resolve(outputs[n] as Output);
    } catch (error) {
      if (calls.length === 1) return calls[0]?.reject(error);
      for (const call of calls) await serve([call]);
    }
  };
  const work = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) await serve(waiting.splice(0, MAX_CALLS));
    running -= 1;
  };

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (running < concurrency) void work();
    });
};
