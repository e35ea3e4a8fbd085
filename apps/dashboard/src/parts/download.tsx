import { useMutation } from '@tanstack/react-query';
import type { MouseEvent } from 'react';
import { addressOf, useApi } from '../api/create-api.js';
import type { ErrorContext } from '../api/errors.js';
import { Button } from './button.js';
import { saveFile } from './format.js';
import { ErrorAlert } from './states.js';

/** The name that the service gives a file; undefined when it gives none. */
export const fileNameOf = ({ headers }: Pick<Response, 'headers'>): string | undefined => {
  const header = headers.get('content-disposition') ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  const [, quoted, token] = /filename=(?:"((?:\\.|[^"\\])*)"|([^;\s]+))/.exec(header) ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
};

type DownloadProps = {
  path: string;
  /** By default the name that the service gives the file. */
  fileName?: string;
  children: string;
};

const useDownload = (path: string, fileName: string | undefined) => {
  const api = useApi();
  return useMutation({
    mutationFn: async () => {
      const response = await api.send('GET', path, { headers: { Accept: '*/*' } });
      saveFile(await response.blob(), fileName ?? fileNameOf(response) ?? 'download');
    },
  });
};

type DownloadButtonProps = DownloadProps & ErrorContext & { small?: boolean };

/** Downloads a file, or shows why it cannot be downloaded. */
export const DownloadButton = ({ path, fileName, children, small = false, ...context }: DownloadButtonProps) => {
  const download = useDownload(path, fileName);
  return (
    <>
      <Button small={small} isPending={download.isPending} onPress={() => download.mutate()}>
        {children}
      </Button>
      <ErrorAlert error={download.error} {...context} />
    </>
  );
};

/** Like {@link DownloadButton}, with an address that can be copied. The browser itself would say only that the download failed. */
export const DownloadLink = ({ path, fileName, children, primary = false }: DownloadProps & { primary?: boolean }) => {
  const download = useDownload(path, fileName);
  const start = (event: MouseEvent) => {
    // The browser opens the address elsewhere.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (!download.isPending) download.mutate();
  };
  return (
    <>
      <a
        className={`button${primary ? ' primary' : ''}`}
        href={addressOf(path)}
        download={fileName ?? ''}
        aria-busy={download.isPending}
        data-pending={download.isPending || undefined}
        onClick={start}
      >
        {children}
      </a>
      <ErrorAlert error={download.error} />
    </>
  );
};
