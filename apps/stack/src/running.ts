import type { EmbeddedServer } from '@vat/embedded';

/** A process under supervision: an embedded server, or a child of ours. */
export type Running = Pick<EmbeddedServer, 'pid' | 'exited' | 'stop'>;
