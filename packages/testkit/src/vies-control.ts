/** The upstream of a world and its control functions. The formats are those of the sandbox's control API. */
export type ViesControl = {
  url: string;
  /** Sets the answers for one number, one per lookup; the last one repeats unless `then` is `default`. */
  script: (vatNumber: string, answers: unknown[], then?: 'repeat' | 'default') => Promise<void>;
  /** Sets the behaviour of one member state: latency, saturation, a fixed answer (null removes it). */
  state: (memberState: string, behaviour: Record<string, unknown>) => Promise<void>;
  defaults: (behaviour: Record<string, unknown>) => Promise<void>;
  /** Sets a fixed answer for everything; null removes it. */
  answerAll: (answer: unknown) => Promise<void>;
  reset: () => Promise<void>;
  stats: () => Promise<ViesStats>;
  journal: (vatNumber?: string) => Promise<JournalEntry[]>;
};

type StateStats = { in_flight: number; max_in_flight: number; total: number; answered: number; aborted: number };
type ViesStats = { states: Record<string, StateStats>; totals: StateStats };
export type JournalEntry = {
  at: number;
  finished_at: number | null;
  member_state: string;
  number: string;
  requester: string | null;
  trader: Record<string, string> | null;
  answer: string;
  in_flight_at_start: number;
};

export const viesControl = (url: string): ViesControl => {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}/_control${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw new Error(`the sandbox refused ${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  return {
    url,
    script: async (vatNumber, answers, after = 'repeat') => {
      await call(
        'PUT',
        `/numbers/${vatNumber}`,
        Object.fromEntries([
          ['answers', answers],
          ['then', after],
        ]),
      );
    },
    state: async (memberState, behaviour) => void (await call('PUT', `/states/${memberState}`, behaviour)),
    defaults: async (behaviour) => void (await call('PUT', '/defaults', behaviour)),
    answerAll: async (answer) => void (await call('PUT', '/answer', answer)),
    reset: async () => void (await call('DELETE', '')),
    stats: async () => (await call('GET', '/stats')) as ViesStats,
    journal: async (vatNumber) => {
      const answer = (await call('GET', `/journal${vatNumber === undefined ? '' : `?number=${vatNumber}`}`)) as
        | JournalEntry[]
        | { entries: JournalEntry[] };
      return Array.isArray(answer) ? answer : answer.entries;
    },
  };
};
