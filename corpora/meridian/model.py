"""The financial model: derives every figure of the report from ``source/model.yaml``.

A figure is a ``Series``: a value for each year, read as ``rev[25]``. Balances carry 2022 as the opening year.
The statements balance by construction: cash is what the cash flow statement leaves, retained earnings what
income and dividends leave; ``check.py`` then proves it on the printed tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

SOURCE = Path(__file__).parent / "source" / "model.yaml"
YEARS = (23, 24, 25)


class Series(dict[int, Any]):
    """Values by two-digit year, with arithmetic year by year over the years both sides have."""

    def _with(self, other: Any, operation: Any) -> Series:
        if isinstance(other, Series):
            return Series({y: operation(self[y], other[y]) for y in self if y in other})
        return Series({y: operation(value, other) for y, value in self.items()})

    def __add__(self, other: Any) -> Series:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Series:
        return self + other

    def __sub__(self, other: Any) -> Series:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Series:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Series:
        return self._with(other, lambda a, b: a / b)

    def __neg__(self) -> Series:
        return Series({y: -value for y, value in self.items()})

    @property
    def change(self) -> Series:
        """The change on the year before, for every year that has one before it."""
        return Series({y: value - self[y - 1] for y, value in self.items() if y - 1 in self})


def series(values: list[Any]) -> Series:
    """Make a series of three or four values that ends in 2025."""
    return Series(zip(range(26 - len(values), 26), values, strict=True))


def roll(opening: int, change: Series) -> Series:
    """Roll a balance forward from its opening value at the end of 2022."""
    balance = Series({22: opening})
    for year in YEARS:
        balance[year] = balance[year - 1] + change[year]
    return balance


def build() -> dict[str, Any]:
    """Return every figure of the model by name."""
    data = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    figures: dict[str, Any] = {}
    for group in ("flows", "balances", "per_share", "units", "employees", "counts"):
        figures |= {name: series(values) for name, values in data[group].items()}
    opening = data["opening"]
    _revenue(figures)
    _income(figures)
    _provisions(figures, opening)
    _assets(figures, opening)
    _liabilities(figures)
    _cash_flow(figures, opening)
    _equity(figures, opening)
    _operations(figures, data)
    return figures


def _revenue(f: dict[str, Any]) -> None:
    for region in ("na", "eu"):
        f[f"rev_{region}"] = sum(f[f"{region}_{k}"] for k in ("vehicles", "parts", "connected", "other"))
    f["rev_en"] = f["en_storage"] + f["en_charging"]
    f["rev_fs"] = f["fs_retail"] + f["fs_lease"] + f["fs_wholesale"]
    f["rev_auto"] = f["rev_na"] + f["rev_eu"]
    f["rev"] = f["rev_auto"] + f["rev_en"] + f["rev_fs"]
    for kind in ("vehicles", "parts", "connected", "other"):
        f[kind] = f[f"na_{kind}"] + f[f"eu_{kind}"]


def _income(f: dict[str, Any]) -> None:
    f["cos"] = f["na_cos"] + f["eu_cos"] + f["en_cos"]
    f["cos_auto"] = f["na_cos"] + f["eu_cos"]
    f["sga"] = f["na_sga"] + f["eu_sga"] + f["en_sga"] + f["corp_sga"]
    f["rnd"] = f["na_rnd"] + f["eu_rnd"] + f["en_rnd"]
    for s in ("na", "eu", "en"):
        f[f"seg_{s}"] = f[f"rev_{s}"] - f[f"{s}_cos"] - f[f"{s}_sga"] - f[f"{s}_rnd"]
    f["fs_costs"] = f["fs_interest"] + f["fs_lease_dep"] + f["fs_provision"] + f["fs_opex"]
    f["seg_fs"] = f["rev_fs"] - f["fs_costs"]
    f["seg_total"] = f["seg_na"] + f["seg_eu"] + f["seg_en"] + f["seg_fs"]
    f["costs"] = (
        f["cos"] + f["sga"] + f["rnd"] + f["fs_costs"] + f["restructuring"] + f["goodwill_impairment"]
    )
    f["op_income"] = f["rev"] - f["costs"]
    f["pretax"] = f["op_income"] - f["interest_exp"] + f["interest_inc"] + f["jv_income"]
    f["pretax_us"] = f["pretax"] - f["pretax_foreign"]
    f["tax_current"] = f["tax_current_us"] + f["tax_current_state"] + f["tax_current_foreign"]
    f["tax"] = f["tax_current"] + f["tax_deferred"]
    f["ni"] = f["pretax"] - f["tax"]
    f["ni_att"] = f["ni"] - f["nci_income"]
    f["eps_basic"] = f["ni_att"] / f["basic_shares"]
    f["eps"] = f["ni_att"] / f["diluted_shares"]
    f["tr_statutory"] = Series({y: round(0.21 * v) for y, v in f["pretax"].items()})
    named = sum(f[f"tr_{k}"] for k in ("statutory", "state", "foreign", "credits", "impairment", "valuation"))
    f["tr_other"] = f["tax"] - named
    f["gross"] = f["rev_auto"] + f["rev_en"] - f["cos"]


def _provisions(f: dict[str, Any], opening: dict[str, int]) -> None:
    f["warranty"] = roll(opening["warranty"], f["w_accruals"] + f["w_recalls"] - f["w_payments"] + f["w_fx"])
    f["warranty_current"] = Series({y: round(0.46 * v) for y, v in f["warranty"].items()})
    f["warranty_long"] = f["warranty"] - f["warranty_current"]
    f["pbo"] = roll(
        opening["pbo"], f["p_service"] + f["p_interest"] + f["p_actuarial_loss"] - f["p_benefits"]
    )
    f["plan_assets"] = roll(
        opening["plan_assets"], f["p_actual_return"] + f["p_contributions"] - f["p_benefits"]
    )
    f["pension_deficit"] = f["pbo"] - f["plan_assets"]
    f["opeb"] = Series(dict.fromkeys((22, *YEARS), opening["opeb"]))
    f["pensions"] = f["pension_deficit"] + f["opeb"]
    f["pension_cost"] = f["p_service"] + f["p_interest"] - f["p_expected_return"] + f["p_amort"]
    f["oci_pension"] = -f["p_actuarial_loss"] + f["p_actual_return"] - f["p_expected_return"] + f["p_amort"]
    f["oci_pension_tax"] = Series({y: -round(0.24 * v) for y, v in f["oci_pension"].items()})
    f["rs_charged"] = f["rs_severance"] + f["rs_exit"]
    f["rs_reserve"] = roll(opening["restructuring_reserve"], f["rs_charged"] - f["rs_paid"])
    net_losses = f["charge_offs"] - f["recoveries"]
    f["net_charge_offs"] = net_losses
    f["allowance"] = roll(opening["allowance"], f["fs_provision"] - net_losses)


def _assets(f: dict[str, Any], opening: dict[str, int]) -> None:
    f["inventories"] = f["inv_raw"] + f["inv_wip"] + f["inv_finished"]
    f["ppe"] = roll(
        opening["ppe"],
        f["capex"] - f["dep_ppe"] - f["asset_writedown"] - f["ppe_disposals"] + f["fx_ppe"],
    )
    f["goodwill"] = roll(opening["goodwill"], -f["goodwill_impairment"])
    f["intangibles"] = roll(opening["intangibles"], f["intang_additions"] - f["amort_intang"])
    f["jv"] = roll(opening["jv"], f["jv_contributions"] + f["jv_income"] - f["jv_dividends"])
    f["oci_tax"] = f["oci_pension_tax"] + f["oci_hedge_tax"] + f["oci_afs_tax"]
    f["deferred_tax"] = roll(opening["deferred_tax"], f["oci_tax"] - f["tax_deferred"])
    f["fr"] = f["fr_current"] + f["fr_noncurrent"]
    f["fr_gross"] = f["fr"] + f["allowance"]


def _liabilities(f: dict[str, Any]) -> None:
    kinds = ("incentives", "compensation", "legal", "taxes", "interest", "other")
    f["accrued"] = sum(f[f"acc_{k}"] for k in kinds) + f["warranty_current"] + f["rs_reserve"]
    f["auto_debt"] = f["auto_debt_current"] + f["auto_debt_long"]
    f["fs_debt"] = f["fs_debt_current"] + f["fs_debt_long"]
    f["debt"] = f["auto_debt"] + f["fs_debt"]
    f["defrev"] = f["defrev_current"] + f["defrev_noncurrent"]
    f["liab_current"] = (
        f["payables"] + f["accrued"] + f["defrev_current"] + f["lease_current"]
        + f["auto_debt_current"] + f["fs_debt_current"]
    )  # fmt: skip
    f["liab_long"] = (
        f["auto_debt_long"] + f["fs_debt_long"] + f["lease_long"] + f["warranty_long"]
        + f["pensions"] + f["defrev_noncurrent"] + f["other_liabilities"]
    )  # fmt: skip
    f["liabilities"] = f["liab_current"] + f["liab_long"]


def _cash_flow(f: dict[str, Any], opening: dict[str, int]) -> None:
    f["cf_dep"] = f["dep_ppe"] + f["amort_intang"]
    f["cf_impair"] = f["goodwill_impairment"] + f["asset_writedown"]
    f["cf_jv"] = f["jv_dividends"] - f["jv_income"]
    f["cf_pension"] = f["pension_cost"] - f["p_contributions"]
    f["cf_receivables"] = -f["receivables"].change
    f["cf_inventories"] = -f["inventories"].change
    f["cf_other_assets"] = (
        f["oci_hedge"] - f["other_current"].change - f["other_assets"].change - f["rou"].change
    )
    f["cf_payables"] = f["payables"].change
    f["cf_accrued"] = (f["accrued"] + f["warranty_long"]).change
    f["cf_defrev"] = f["defrev"].change
    f["cf_other_liab"] = (f["lease_current"] + f["lease_long"] + f["other_liabilities"]).change
    f["cfo"] = sum(
        f[k] for k in (
            "ni", "cf_dep", "fs_lease_dep", "cf_impair", "fs_provision", "stock_comp", "tax_deferred",
            "cf_jv", "cf_pension", "cf_receivables", "cf_inventories", "cf_other_assets", "cf_payables",
            "cf_accrued", "cf_defrev", "cf_other_liab",
        )
    )  # fmt: skip
    f["cf_wc"] = f["cf_receivables"] + f["cf_inventories"] + f["cf_payables"]
    f["cf_fr"] = -(f["fr"].change + f["fs_provision"])
    f["collections"] = f["originations"] + f["cf_fr"]
    f["lease_equipment_purchases"] = (
        f["lease_equipment"].change + f["fs_lease_dep"] + f["lease_equipment_proceeds"]
    )
    f["securities_sales"] = f["securities_purchases"] + f["oci_afs"] - f["securities"].change
    f["cfi"] = (
        f["ppe_disposals"] - f["capex"] - f["intang_additions"] + f["cf_fr"]
        - f["lease_equipment_purchases"] + f["lease_equipment_proceeds"]
        - f["securities_purchases"] + f["securities_sales"] - f["jv_contributions"]
    )  # fmt: skip
    f["auto_issues"] = f["auto_debt"].change + f["auto_repayments"]
    f["fs_issues"] = f["fs_debt"].change + f["fs_repayments"]
    f["dividends"] = Series({y: round(f["dividend"][y] * f["basic_shares"][y]) for y in YEARS})
    f["cff"] = (
        f["auto_issues"] - f["auto_repayments"] + f["fs_issues"] - f["fs_repayments"]
        - f["dividends"] - f["nci_dividends"] - f["buybacks"] + f["employee_stock"]
    )  # fmt: skip
    f["cash_change"] = f["cfo"] + f["cfi"] + f["cff"] + f["fx_cash"]
    f["cash"] = roll(opening["cash"], f["cash_change"])
    f["free_cash"] = f["cfo"] - f["capex"]
    f["liquid"] = f["cash"] + f["securities"]


def _equity(f: dict[str, Any], opening: dict[str, int]) -> None:
    f["assets_current"] = (
        f["liquid"] + f["receivables"] + f["inventories"] + f["fr_current"] + f["other_current"]
    )
    f["assets"] = f["assets_current"] + sum(
        f[k]
        for k in (
            "fr_noncurrent", "lease_equipment", "ppe", "rou", "goodwill", "intangibles", "jv",
            "deferred_tax", "other_assets",
        )
    )  # fmt: skip
    f["oci_cta"] = f["fx_ppe"] + f["fx_cash"]
    f["oci_cta_tax"] = series([0, 0, 0])
    for part in ("cta", "pension", "hedge", "afs"):
        f[f"oci_{part}_net"] = f[f"oci_{part}"] + f[f"oci_{part}_tax"]
        f[f"aoci_{part}"] = roll(opening[f"aoci_{part}"], f[f"oci_{part}_net"])
    f["oci"] = sum(f[f"oci_{part}_net"] for part in ("cta", "pension", "hedge", "afs"))
    f["aoci"] = sum(f[f"aoci_{part}"] for part in ("cta", "pension", "hedge", "afs"))
    f["common_stock"] = Series(dict.fromkeys((22, *YEARS), opening["common_stock"]))
    f["apic"] = roll(opening["apic"], f["stock_comp"] + f["employee_stock"])
    f["treasury"] = roll(opening["treasury"], -f["buybacks"])
    f["nci"] = roll(opening["nci"], f["nci_income"] - f["nci_dividends"])
    others = ("common_stock", "apic", "treasury", "aoci", "nci")
    # Only the opening balance is a remainder; from then on earnings less dividends must keep the balance.
    start = f["assets"][22] - f["liabilities"][22] - sum(f[k][22] for k in others)
    f["retained"] = roll(start, f["ni_att"] - f["dividends"])
    f["equity_att"] = sum(f[k] for k in ("common_stock", "apic", "treasury", "aoci", "retained"))
    f["equity"] = f["equity_att"] + f["nci"]
    f["comprehensive"] = f["ni"] + f["oci"]


def _operations(f: dict[str, Any], data: dict[str, Any]) -> None:
    models = ("tamarack", "alder", "solace", "corsair", "vireo", "porter")
    zero = series([0, 0, 0])
    for model in models:
        f[model] = f.get(f"na_{model}", zero) + f.get(f"eu_{model}", zero)
    for region in ("na", "eu"):
        f[f"units_{region}"] = sum(f.get(f"{region}_{model}", zero) for model in models)
    f["units"] = f["units_na"] + f["units_eu"]
    f["plants"] = data["production"]
    for plant, row in data["production"].items():
        f[f"prod_{plant}"] = series([row[2023], sum(row[2024]), sum(row[2025])])
    f["prod"] = sum(f[f"prod_{plant}"] for plant in data["production"])
    f["employees"] = f["emp_na"] + f["emp_eu"] + f["emp_en"] + f["emp_fs"]
    f["dealers"] = f["dealers_na"] + f["dealers_eu"]
    f["q"] = {name: {y % 100: v for y, v in by.items()} for name, by in data["quarters"].items()}
    by_segment = [f["q"][f"rev_{s}"] for s in ("na", "eu", "en", "fs")]
    f["q"]["rev"] = {y: [sum(s[y][i] for s in by_segment) for i in range(4)] for y in (24, 25)}
