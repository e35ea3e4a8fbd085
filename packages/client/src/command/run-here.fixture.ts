import { runCommand } from './run-command.js';

/**
 * Runs the command in this process, until `enough` says so after a line as Ctrl-C would. `env`: what it finds there; `write`: what
 * happens before an event is printed.
 */
export const runHere = async (
  words: string[],
  env: Record<string, string> = {},
  enough: (line: string) => boolean = () => false,
  write: (line: string) => Promise<void> = async () => undefined,
) => {
  const [stopping, stdout, stderr] = [new AbortController(), [] as string[], [] as string[]];
  const into = (lines: string[]) => (line: string) => {
    lines.push(line);
    if (enough(line)) stopping.abort(new Error('Interrupted.'));
  };
  const print = into(stdout);
  const code = await runCommand(words, {
    ...{ env, print, note: into(stderr), signal: stopping.signal },
    write: async (line) => {
      await write(line);
      print(line);
    },
  });
  return { code, stdout, stderr };
};
