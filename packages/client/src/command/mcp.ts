import { type Command, EXIT } from './command.js';

/** `vat mcp` */
export const mcp: Command = {
  takes: [],
  summary: 'Serves the tools of this service to a program with a language model (Model Context Protocol over stdio)',
  options: {},
  run: async (_args, { client, signal }) => {
    const vat = client();
    // Loaded here because it is large, and other commands do not need it.
    const { serveTools } = await import('./serve-tools.js');
    await serveTools(vat, signal);
    return EXIT.ok;
  },
};
