/** What a piece of data is about. The first word of every query's key, and the `topic` of the server's news. */
export type Topic =
  | 'checks'
  | 'requests'
  | 'batches'
  | 'watches'
  | 'deliveries'
  | 'anchors'
  | 'overview'
  | 'usage'
  | 'status'
  | 'settings'
  | 'keys';

/** What else changes when something of a topic does. */
export const ALSO_CHANGED: Partial<Record<Topic, readonly Topic[]>> = {
  checks: ['requests', 'overview', 'usage'],
  requests: ['checks', 'overview', 'usage'],
  batches: ['overview', 'usage', 'checks'],
  watches: ['overview'],
  deliveries: ['overview'],
};
