/** What pages of the dashboard are told about. Source: docs/dashboard-api.md. */
export const PAGE_TOPICS = ['checks', 'requests', 'batches', 'watches', 'deliveries'] as const;
export type PageTopic = (typeof PAGE_TOPICS)[number];

/** Something of an account changed. `id`: the public id of what; left out when it was several. No more than a reason to read again. */
export type PageUpdate = { topic: PageTopic; id?: string };

/**
 * Tells the pages that an account's people have open. Call it after the commit; it costs nothing at that moment, never
 * fails, and may be lost: pages read the truth from the API, and now and then without being told.
 */
export type PublishChange = (accountId: string, topic: PageTopic, id?: string) => void;
