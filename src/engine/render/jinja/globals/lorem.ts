// Dummy text for `lipsum`.

const words =
  'a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue bibendum blandit class commodo condimentum congue consectetuer consequat conubia convallis cras cubilia cum curabitur curae cursus dapibus diam dictum dignissim dis dolor donec dui duis egestas eget eleifend elementum elit enim erat eros est et etiam eu euismod facilisi facilisis fames faucibus felis fermentum feugiat fringilla fusce gravida habitant hendrerit hymenaeos iaculis id imperdiet in inceptos integer interdum ipsum justo lacinia lacus laoreet lectus leo libero ligula litora lobortis lorem luctus maecenas magna malesuada massa mattis mauris metus mi molestie mollis montes morbi mus nam nascetur natoque nec neque netus nibh nisi nisl non nonummy nostra nulla nullam nunc odio orci ornare parturient pede pellentesque penatibus per pharetra phasellus placerat porta porttitor posuere potenti praesent pretium primis proin pulvinar purus quam quis quisque rhoncus ridiculus risus rutrum sagittis sapien scelerisque sed sem semper senectus sit sociis sodales sollicitudin suscipit suspendisse taciti tellus tempor tempus tincidunt torquent tortor tristique turpis ullamcorper ultrices ultricies urna ut varius vehicula vel velit venenatis vestibulum vitae vivamus viverra volutpat vulputate'.split(
    ' ',
  );

const below = (low: number, high: number): number => low + Math.floor(Math.random() * (high - low));

function sentence(count: number): string {
  const out: string[] = [];
  let last = '';
  while (out.length < count) {
    const word = words[below(0, words.length)]!;
    if (word === last) continue;
    last = word;
    const comma = out.length > 2 && out.length < count - 2 && below(0, 6) === 0 ? ',' : '';
    out.push(word + comma);
  }
  const text = out.join(' ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

/** Paragraphs of `min` to `max` words each. */
export function lorem(paragraphs: number, min: number, max: number): string[] {
  return Array.from({ length: Math.max(0, Math.min(paragraphs, 1000)) }, () => {
    let left = below(min, Math.max(min + 1, Math.min(max, 10_000)));
    const sentences: string[] = [];
    while (left > 0) {
      const size = Math.min(left, below(5, 16));
      sentences.push(sentence(size));
      left -= size;
    }
    return sentences.join(' ');
  });
}
