/** The most calls that one statement serves: it stays short, and its text the same. */
const MOST = 100;

/**
 * Serves calls that come at the same time by one statement: while `lanes` statements are under way, further calls coalesce
 * for the next one. A call that comes alone waits for nothing; under load one round trip serves many. `run` answers in the
 * order of its inputs. When it fails for several, each is tried alone, so that no call fails for another's sake.
 */
export const coalesce = <Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  lanes: number,
): ((input: Input) => Promise<Output>) => {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  const waiting: Call[] = [];
  let busy = 0;

  const serve = async (calls: Call[]): Promise<void> => {
    try {
      const outputs = await run(calls.map(({ input }) => input));
      if (outputs.length !== calls.length) throw new Error('a gathered statement did not answer every call');
      for (const [n, call] of calls.entries()) call.resolve(outputs[n] as Output);
    } catch (error) {
      if (calls.length === 1) return calls[0]?.reject(error);
      for (const call of calls) await serve([call]);
    }
  };
  const work = async (): Promise<void> => {
    busy += 1;
    while (waiting.length > 0) await serve(waiting.splice(0, MOST));
    busy -= 1;
  };

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (busy < lanes) void work();
    });
};
