/** The topics of page updates. See docs/dashboard-api.md. */
export const PAGE_TOPICS = ['checks', 'requests', 'batches', 'coverage', 'watches', 'deliveries', 'members'] as const;
export type PageTopic = (typeof PAGE_TOPICS)[number];

/** A change in an account's data. `id`: the public id of the changed object; absent when there are several. Pages then read again. */
export type PageUpdate = { topic: PageTopic; id?: string };

/**
 * Publishes a change to the open dashboard pages of an account. Call it after the commit. It returns at once and never fails.
 * An update may be lost: pages also read the API at intervals.
 */
export type PublishChange = (accountId: string, topic: PageTopic, id?: string) => void;
