// SPDX-License-Identifier: Apache-2.0
//! Ranges of cells of an array, as reads and updates name them, and the values that an update writes to
//! them. Arrays themselves are in `register`, `counter` and `meter`.

use crate::UpdateError;
use std::ops::Range;
use std::sync::Arc;

/// Largest number of cells that one request may name.
pub(crate) const MAX_CELLS_PER_REQUEST: u64 = 1 << 24;

/// Consecutive cells of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellRange {
    /// Index of the first cell.
    pub first: u64,
    /// Number of cells; `None` for all from `first` to the end of the array.
    pub count: Option<u64>,
}

impl CellRange {
    /// Every cell.
    pub fn all() -> CellRange {
        CellRange::default()
    }

    /// The cell at an index.
    pub fn one(index: u64) -> CellRange {
        CellRange::range(index, 1)
    }

    /// `count` cells from the index `first` on.
    pub fn range(first: u64, count: u64) -> CellRange {
        CellRange { first, count: Some(count) }
    }

    /// The indexes named in an array of `size` cells. An index outside the array is an error, also where
    /// the range is empty.
    pub(crate) fn indexes(self, object: &Arc<str>, size: u64) -> Result<Range<u64>, UpdateError> {
        let CellRange { first, count } = self;
        let outside = |index| UpdateError::IndexOutOfBounds { object: object.clone(), index, size };
        let end = match count {
            None => size,
            Some(count) => first.checked_add(count).ok_or_else(|| outside(first.max(size)))?,
        };
        if first > size || end > size {
            return Err(outside(first.max(size)));
        }
        Ok(first..end)
    }

    /// As `indexes`, for requests that visit each cell: too many cells are an error.
    pub(crate) fn few_indexes(
        self,
        object: &Arc<str>,
        size: u64,
    ) -> Result<Range<u64>, UpdateError> {
        let indexes = self.indexes(object, size)?;
        if indexes.end - indexes.start > MAX_CELLS_PER_REQUEST {
            return Err(UpdateError::TooManyCells { object: object.clone(), size });
        }
        Ok(indexes)
    }
}

/// One cell, or with `None` every cell.
impl From<Option<u64>> for CellRange {
    fn from(index: Option<u64>) -> CellRange {
        index.map_or_else(CellRange::all, CellRange::one)
    }
}

/// What an update writes to a range of cells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CellValues<T> {
    /// This value to every cell of the range.
    Same(T),
    /// One value a cell, in the order of the indexes.
    Each(Vec<T>),
}

impl<T> From<T> for CellValues<T> {
    fn from(value: T) -> CellValues<T> {
        CellValues::Same(value)
    }
}

impl<T> CellValues<T> {
    /// Checks that the number of values fits the number of cells.
    pub(crate) fn check_count(&self, object: &Arc<str>, cells: u64) -> Result<(), UpdateError> {
        match self {
            CellValues::Each(values) if values.len() as u64 != cells => {
                let (object, given) = (object.clone(), values.len());
                Err(UpdateError::WrongCellCount { object, cells, given })
            }
            _ => Ok(()),
        }
    }

    /// Converts each value; the first error is returned.
    pub(crate) fn try_map<U, E>(
        self,
        mut convert: impl FnMut(T) -> Result<U, E>,
    ) -> Result<CellValues<U>, E> {
        Ok(match self {
            CellValues::Same(value) => CellValues::Same(convert(value)?),
            CellValues::Each(values) => {
                CellValues::Each(values.into_iter().map(convert).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The value of the cell at this position in the range. The count has been checked.
    pub(crate) fn at(&self, position: usize) -> &T {
        match self {
            CellValues::Same(value) => value,
            CellValues::Each(values) => &values[position],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_within_the_array() {
        let object: Arc<str> = "r".into();
        let indexes = |range: CellRange, size| range.indexes(&object, size);
        let outside = |index, size| {
            Err(UpdateError::IndexOutOfBounds { object: object.clone(), index, size })
        };
        let cases = [
            (CellRange::all(), 4, Ok(0..4)),
            (CellRange::all(), 0, Ok(0..0)),
            (CellRange::one(3), 4, Ok(3..4)),
            (CellRange::one(4), 4, outside(4, 4)),
            (CellRange::one(9), 4, outside(9, 4)),
            (CellRange::one(u64::MAX), 4, outside(u64::MAX, 4)),
            (CellRange::range(1, 3), 4, Ok(1..4)),
            (CellRange::range(1, 4), 4, outside(4, 4)),
            (CellRange::range(2, u64::MAX), 4, outside(4, 4)),
            (CellRange::range(4, 0), 4, Ok(4..4)),
            (CellRange::range(5, 0), 4, outside(5, 4)),
            (CellRange { first: 2, count: None }, 4, Ok(2..4)),
            (CellRange { first: 5, count: None }, 4, outside(5, 4)),
        ];
        for (range, size, expected) in cases {
            assert_eq!(indexes(range, size), expected, "{range:?} of {size}");
        }
        assert_eq!(CellRange::from(Some(2)), CellRange::one(2));
        assert_eq!(CellRange::from(None), CellRange::all());
    }

    #[test]
    fn more_cells_than_one_request_may_name_are_refused() {
        let object: Arc<str> = "r".into();
        let size = MAX_CELLS_PER_REQUEST + 1;
        assert_eq!(CellRange::range(1, size - 1).few_indexes(&object, size), Ok(1..size));
        let refused = Err(UpdateError::TooManyCells { object: object.clone(), size });
        assert_eq!(CellRange::all().few_indexes(&object, size), refused);
        assert_eq!(CellRange::all().indexes(&object, size), Ok(0..size));
    }
}
