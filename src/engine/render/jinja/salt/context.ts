// Variables every SLS gets from its name and path.

export interface SlsContext {
  readonly tplpath?: string;
  readonly tplfile?: string;
  readonly tpldir?: string;
  readonly tpldot?: string;
  readonly slspath?: string;
  readonly slsdotpath?: string;
  readonly slscolonpath?: string;
  readonly sls_path?: string;
}

const parentOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) || '/' : '.');

/** `tplfile`, `tpldir`, `slspath` and their relatives; `templatePath` is the file being rendered. */
export function slsContext(templatePath: string | undefined, sls: string): SlsContext {
  let slspath = sls.replaceAll('.', '/').replace(/\/+$/, '');
  let template: { tplpath: string; tplfile: string; tpldir: string; tpldot: string } | undefined;
  if (templatePath) {
    let file: string;
    if (sls === '') file = templatePath.slice(templatePath.lastIndexOf('/') + 1);
    else if (templatePath.endsWith(`${slspath}.sls`)) file = `${slspath}.sls`;
    else if (templatePath.endsWith(`${slspath}/init.sls`)) file = `${slspath}/init.sls`;
    // A file that is rendered for an SLS without being one.
    else return { tplpath: templatePath, tplfile: sls, tpldir: parentOf(sls) };
    slspath = file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '';
    template = { tplpath: templatePath, tplfile: file, tpldir: slspath || '.', tpldot: slspath.replaceAll('/', '.') };
  }
  return {
    ...template,
    slspath,
    slsdotpath: slspath.replaceAll('/', '.'),
    slscolonpath: slspath.replaceAll('/', ':'),
    sls_path: slspath.replaceAll('/', '_'),
  };
}
