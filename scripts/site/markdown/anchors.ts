// The anchors of headings, the same as GitHub gives them: links in the repository and on the site are the same.

/** The name of a heading, in Markdown, before doubles are counted. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** Gives each heading of one page its anchor: the second `Show` is `show-1`. */
export function anchorMaker(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const slug = slugOf(heading);
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
