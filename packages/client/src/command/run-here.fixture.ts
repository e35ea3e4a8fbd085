import { runCommand } from './run-command.js';

/** Runs the command in this process, until `enough` says so after a line as Ctrl-C would. `env`: what it finds there. */
export const runHere = async (
  words: string[],
  env: Record<string, string> = {},
  enough: (line: string) => boolean = () => false,
) => {
  const [stopping, stdout, stderr] = [new AbortController(), [] as string[], [] as string[]];
  const into = (lines: string[]) => (line: string) => {
    lines.push(line);
    if (enough(line)) stopping.abort(new Error('Interrupted.'));
  };
  const code = await runCommand(words, { env, print: into(stdout), note: into(stderr), signal: stopping.signal });
  return { code, stdout, stderr };
};
