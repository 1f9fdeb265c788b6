// The native aggregates by name.
#pragma once

#include <map>
#include <string_view>

#include "sash/more_scalars.hpp"
#include "sash/sketches.hpp"

namespace sash {

// Tables of the components a record may have; null when there is none of that name.
inline const Ops* find_ops(std::string_view name) {
  static const std::map<std::string_view, Ops> all{
      {"count_rows", adapt<CountRows>()},
      {"count", adapt<Count>()},
      {"sum_f64", adapt<SumF64>()},
      {"sum_i64", adapt<SumI64>()},
      {"sum_counted_f64", adapt<CountedSum>()},
      {"mean_f64", adapt<Mean>()},
      {"mean_i64", adapt<MeanI64>()},
      {"weighted_mean_f64", adapt<WeightedMean>()},
      {"geomean_f64", adapt<GeoMean>()},
      {"geomean_i64", adapt<GeoMeanI64>()},
      {"variance_f64", adapt<VarianceBy>()},
      {"variance_i64", adapt<VarianceI64>()},
      {"min_f64", adapt<MinF64>()},
      {"min_i64", adapt<MinI64>()},
      {"max_f64", adapt<MaxF64>()},
      {"max_i64", adapt<MaxI64>()},
      {"mincount_f64", adapt<ExtremeCount<false, double>>()},
      {"mincount_i64", adapt<ExtremeCount<false, std::int64_t>>()},
      {"maxcount_f64", adapt<ExtremeCount<true, double>>()},
      {"maxcount_i64", adapt<ExtremeCount<true, std::int64_t>>()},
      {"argmin_f64", adapt<ArgExtreme<false, double>>()},
      {"argmin_i64", adapt<ArgExtreme<false, std::int64_t>>()},
      {"argmax_f64", adapt<ArgExtreme<true, double>>()},
      {"argmax_i64", adapt<ArgExtreme<true, std::int64_t>>()},
      {"first", adapt<Edge<false>>()},
      {"last", adapt<Edge<true>>()},
      {"range_f64", adapt<Range<double>>()},
      {"range_i64", adapt<Range<std::int64_t>>()},
      {"relative_variation_f64", adapt<RelativeVariation<double>>()},
      {"relative_variation_i64", adapt<RelativeVariation<std::int64_t>>()},
      {"product_f64", adapt<Product>()},
      {"product_i64", adapt<ProductI64>()},
      {"any", adapt<Truth<false>>()},
      {"all", adapt<Truth<true>>()},
      {"m4_f64", adapt<M4<double>>()},
      {"m4_i64", adapt<M4<std::int64_t>>()},
      {"bloom", bloom::ops},
      {"hll", hll::ops},
      {"countmin", countmin::ops},
      {"histogram", histogram::ops},
      {"topk_f64", TopK<double>::ops},
      {"topk_i64", TopK<std::int64_t>::ops},
      {"nth_youngest", nth_youngest::ops},
  };
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

// Calls f with the scalar monoid of that name, one of those that structures are compiled for;
// false when there is none: such an aggregate runs as a record of one component.
template <class F>
bool with_scalar(std::string_view name, const Params& params, F&& f) {
  if (name == "count") return f(Scalar<Count>{}), true;
  if (name == "sum_f64") return f(Scalar<SumF64>{}), true;
  if (name == "sum_i64") return f(Scalar<SumI64>{}), true;
  if (name == "mean_f64") return f(Scalar<Mean>{}), true;
  if (name == "geomean_f64") return f(Scalar<GeoMean>{}), true;
  if (name == "min_f64") return f(Scalar<MinF64>{}), true;
  if (name == "max_f64") return f(Scalar<MaxF64>{}), true;
  if (name == "min_i64") return f(Scalar<MinI64>{}), true;
  if (name == "max_i64") return f(Scalar<MaxI64>{}), true;
  if (name == "variance_f64")
    return f(Scalar<Variance>{Variance{params.integer(0, 1), params.integer(1, 0) != 0}}), true;
  return false;
}

}  // namespace sash
