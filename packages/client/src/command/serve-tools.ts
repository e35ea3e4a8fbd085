import process from 'node:process';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Client } from '../client.js';
import { explainError } from './explain-error.js';
import { TOOLS } from './mcp-tools.js';

const INSTRUCTIONS =
  'Validates VAT numbers of the European Union and Northern Ireland, and stores proof of every answer. A pending result is no verdict.';

const createServer = (client: Client): McpServer => {
  const server = new McpServer({ name: 'vat', version: '1.0.0' }, { instructions: INSTRUCTIONS });
  for (const [name, { title, description, input, readOnly, run }] of Object.entries(TOOLS)) {
    const config = { title, description, inputSchema: input, annotations: { readOnlyHint: readOnly } };
    server.registerTool(name, config, async (given, { mcpReq }) => {
      try {
        const result = await run(client, given, mcpReq.signal);
        return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
      } catch (error) {
        return { content: [{ type: 'text', text: explainError(error) }], isError: true };
      }
    });
  }
  return server;
};

/** Serves the tools over standard input and output, until the program that uses them closes its end. */
export const serveTools = (client: Client, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const handle = serveStdio(() => createServer(client));
    process.stdin.once('end', resolve);
    signal.addEventListener('abort', () => void handle.close().finally(resolve), { once: true });
  });
