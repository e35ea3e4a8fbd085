import { readFile } from 'node:fs/promises';

/** The parts of the vectors that a client must follow; the file explains them. */
type Vectors = {
  signatures: Record<
    'name' | 'secret' | 'id' | 'timestamp' | 'body' | 'service_signature' | 'webhook_signature',
    string
  >[];
  checks: { name: string; body: string; canonical?: string; response_hash?: string; error: string | null }[];
  retry_policy: Record<string, number>;
  retries: {
    name: string;
    repeatable: boolean;
    attempt: number;
    elapsed_ms: number;
    status: number | null;
    headers: Record<string, string>;
    body: unknown;
    wait_ms: number | null;
  }[];
  poll_policy: Record<string, number>;
  polls: {
    name: string;
    deadline_ms: number;
    answers: { retry_after: string | null; status: 'pending' | 'completed' | 'abandoned' | null }[];
    waits_ms: number[];
    outcome: string;
  }[];
  lists: {
    name: string;
    query: Record<string, string>;
    pages: { query: Record<string, string>; answer: unknown }[];
    ids: string[];
  }[];
  events: {
    name: string;
    after: string;
    answers: { after: string; data: unknown[]; last_event_id: string | null }[];
    event_ids: string[];
    continue_after: string;
  }[];
};

/** The vectors that all clients and the receiver share. */
export const readVectors = async (): Promise<Vectors> => {
  const file = new URL('../../receiver/vectors/conformance.json', import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as Vectors;
};
