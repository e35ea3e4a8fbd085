import process from 'node:process';
import { PassThrough } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Client } from '../client.js';
import { explainError } from './explain-error.js';
import { CALL_MS, TOOLS } from './mcp-tools.js';

const INSTRUCTIONS =
  'Validates VAT numbers of the European Union and Northern Ireland, and stores proof of every answer. A pending result is no verdict.';

const createServer = (client: Client): McpServer => {
  const server = new McpServer({ name: 'vat', version: '1.0.0' }, { instructions: INSTRUCTIONS });
  for (const [name, { title, description, input, readOnly, run }] of Object.entries(TOOLS)) {
    const config = { title, description, inputSchema: input, annotations: { readOnlyHint: readOnly } };
    server.registerTool(name, config, async (given, { mcpReq }) => {
      const late = AbortSignal.timeout(CALL_MS);
      try {
        const result = await run(client, given, AbortSignal.any([mcpReq.signal, late]));
        return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
      } catch (error) {
        const text = late.aborted
          ? `${client.baseUrl} did not answer within ${CALL_MS / 1_000} seconds. Try again later.`
          : explainError(error);
        return { content: [{ type: 'text', text }], isError: true };
      }
    });
  }
  return server;
};

const messageOf = (line: string): { id?: unknown; method?: unknown; params?: { requestId?: unknown } } => {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
};

/**
 * A transport over standard input and output that ends with its input, but not before all requests are answered, so that a shell can
 * pipe them. The SDK's own discards them then.
 */
const openTransport = () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const open = new Set<unknown>();
  let hasEnded = false;
  const endIfAnswered = (): void => {
    if (hasEnded && open.size === 0) input.end();
  };
  const take = (line: string): void => {
    const { id, method, params } = messageOf(line);
    if (method === 'notifications/cancelled') open.delete(params?.requestId);
    else if (method !== undefined && id !== undefined) open.add(id);
    input.write(`${line}\n`);
  };
  const end = (): void => {
    hasEnded = true;
    endIfAnswered();
  };
  // Not with node:readline, which from Node 24 on also ends a line at U+2028. A text in JSON may contain that.
  let rest = '';
  process.stdin
    .setEncoding('utf8')
    .on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(take);
    })
    .once('end', () => {
      if (rest !== '') take(rest);
      end();
    });
  // Each message is written in one piece.
  output.on('data', (message: Buffer) => {
    open.delete(messageOf(message.toString()).id);
    endIfAnswered();
  });
  output.pipe(process.stdout);
  const close = (): void => {
    process.stdin.pause();
    end();
  };
  return { transport: new StdioServerTransport(input, output), close };
};

/** Serves the tools over standard input and output, until the program that uses them closes its end. */
export const serveTools = (client: Client, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const { transport, close } = openTransport();
    const handle = serveStdio(() => createServer(client), { transport });
    process.stdin.once('end', resolve);
    signal.addEventListener('abort', () => {
      close();
      void handle.close().finally(resolve);
    });
  });
