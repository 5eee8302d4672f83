"""Words of C4.5 files, and the levels that were read."""

from hypothesis import strategies as st


def levels_of(table, name):
    return table.frame[name].combine_chunks().dictionary.to_pylist()


WORDS = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
    .map(lambda text: " ".join(text.split(" ")).strip())
    .map(lambda text: " ".join(filter(None, text.split(" "))))
    .filter(lambda text: text not in ("", "?", "N/A"))
)
