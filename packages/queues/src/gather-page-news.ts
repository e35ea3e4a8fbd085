import type { PageNews, PageTopic, TellPages } from '@vat/domain';

/** Passes news on, but no more often than every so often an account. */
export type PageNewsGatherer = {
  tell: TellPages;
  /** Passes on at once what has gathered. */
  flush: () => void;
};

/** News of an account since its last message. `null`: several of a topic changed. */
type Gathered = Map<PageTopic, string | null | undefined>;

/** What is caused by one event and told one after the other goes out together. */
const TOGETHER_MS = 20;

const newsOf = (gathered: Gathered): PageNews[] =>
  [...gathered].map(([topic, id]) => (typeof id === 'string' ? { topic, id } : { topic }));

/**
 * The first news of an account go out at once, and what follows within `everyMs` milliseconds as one message at the end
 * of that time: ten thousand lines of a batch make as many messages as they take intervals. An account is held only while
 * its news are young.
 */
export const gatherPageNews = (
  everyMs: number,
  send: (accountId: string, news: PageNews[]) => void,
): PageNewsGatherer => {
  const young = new Map<string, { gathered: Gathered; timer: NodeJS.Timeout }>();

  const wait = (accountId: string, ms: number): Gathered => {
    const gathered: Gathered = new Map();
    young.set(accountId, { gathered, timer: setTimeout(() => end(accountId, gathered), ms).unref() });
    return gathered;
  };
  const end = (accountId: string, gathered: Gathered): void => {
    young.delete(accountId);
    if (gathered.size === 0) return;
    wait(accountId, everyMs);
    send(accountId, newsOf(gathered));
  };

  return {
    tell: (accountId, topic, id) => {
      const gathered = young.get(accountId)?.gathered ?? wait(accountId, TOGETHER_MS);
      gathered.set(topic, gathered.has(topic) && gathered.get(topic) !== id ? null : id);
    },
    flush: () => {
      const rest = [...young];
      young.clear();
      for (const [accountId, { gathered, timer }] of rest) {
        clearTimeout(timer);
        if (gathered.size > 0) send(accountId, newsOf(gathered));
      }
    },
  };
};
