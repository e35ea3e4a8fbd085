import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '@vat/testkit';

/** A program that uses `vat mcp` over standard input and output. `program`: the file of the command. */
export const openTools = (program: string, env: Record<string, string>) => {
  const child = spawn(process.execPath, [program, 'mcp'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const answers = new Map<number, Record<string, unknown>>();
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line);
    answers.set(message.id, message);
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let id = 0;
  const request = async (method: string, params: object = {}) => {
    id += 1;
    const mine = id;
    send({ id: mine, method, params });
    const { result, error } = await until(`the answer to ${method}`, () => answers.get(mine) ?? null);
    return (result ?? { error }) as Record<string, unknown>;
  };
  return {
    send,
    request,
    /** Calls a tool and returns what it says, which is JSON unless it failed. */
    use: async (name: string, given: object) => {
      const { content, structuredContent, isError } = await request('tools/call', { name, arguments: given });
      const [{ text } = { text: '' }] = content as { text: string }[];
      if (!isError) expect(JSON.parse(text)).toEqual(structuredContent);
      return { isError: isError === true, text, result: structuredContent as Record<string, unknown> };
    },
    close: async () => {
      const closed = once(child, 'close');
      child.stdin.end();
      const [code] = await closed;
      return { code, errors };
    },
  };
};
