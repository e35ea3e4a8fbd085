import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ErrorAlert } from './states.js';
import { Page } from './text.js';

/** The code of a page could not be loaded: the service is away, or a newer release has replaced it. */
class PageNotLoaded extends Error {
  override name = 'PageNotLoaded';
}

/**
 * Loads the code of a page. The error of the browser would make the router reload the window at once, and without the service
 * an error page of the browser would replace the dashboard.
 */
export const loadPage =
  <Module,>(load: () => Promise<Module>) =>
  (): Promise<Module> =>
    load().catch(() => {
      throw new PageNotLoaded('This page could not be loaded. Check your connection and try again.');
    });

/** Browsers do not load a module again that failed once, so the window is reloaded, but only while the service answers. */
const reloadIfReachable = async (): Promise<void> => {
  const response = await fetch('/app/icon.svg', { cache: 'no-store' }).catch(() => null);
  if (response?.ok) window.location.reload();
};

/** When the window was reloaded for a page last, in milliseconds: a page that is missing is not reloaded without end. */
const RELOADED_AT = 'page-reloaded-at';
const RELOAD_EVERY_MS = 60_000;

/** What is shown in place of a page that could not be loaded or rendered. */
export const PageError = ({ error, reset }: ErrorComponentProps) => {
  const isNotLoaded = error instanceof PageNotLoaded;
  useEffect(() => {
    if (!isNotLoaded || Date.now() - Number(sessionStorage.getItem(RELOADED_AT)) < RELOAD_EVERY_MS) return;
    sessionStorage.setItem(RELOADED_AT, String(Date.now()));
    void reloadIfReachable();
  }, [isNotLoaded]);
  return (
    <Page title="Something went wrong">
      <ErrorAlert error={error} onRetry={isNotLoaded ? reloadIfReachable : reset} />
    </Page>
  );
};
